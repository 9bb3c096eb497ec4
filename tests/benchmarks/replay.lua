-- Sends prepared requests in turn. args: the file of requests; a prefix that makes ids unique.
-- `@@` in a body becomes an id that no other request of this run has.
local requests, prefix, count = nil, "", 0

function init(args)
    requests, prefix = dofile(args[1]), args[2]
end

function request()
    count = count + 1
    local one = requests[(count - 1) % #requests + 1]
    if not one.unique then return one.text end
    local body = string.gsub(one.body, "@@", prefix .. count)
    return wrk.format(one.method, one.path, one.headers, body)
end

function done(summary, latency)
    local failed = summary.errors.status + summary.errors.connect + summary.errors.read
        + summary.errors.write + summary.errors.timeout
    io.write(string.format(
        "RESULT %d %d %d %.3f %.3f %.3f %.3f\n", summary.requests, summary.duration, failed,
        latency:percentile(50), latency:percentile(95), latency:percentile(99), latency.max))
end
