-- Shared by every session script. KEYS: meta, fields, turns, summary.
-- ARGV: now (seconds), maximum session age (seconds) where `adopt` has kept none, caller's agent, caller's
-- project; then the script's own.
-- A script answers {0} for a session unknown to Redis, else the session's agent first. One that belongs to
-- another agent or project than the caller's counts as unknown: PostgreSQL refuses the caller, or knows that the
-- session was given to it since.
local UNKNOWN = 0
local now = tonumber(ARGV[1])
local born, hold, age, agent, project =
    unpack(redis.call('HMGET', KEYS[1], 'born', 'ttl', 'age', 'agent', 'project'))
local max_age = tonumber(age or ARGV[2])
local DONE = agent or ''

if not born or (ARGV[3] ~= '' and ARGV[3] ~= agent) or (ARGV[4] ~= '' and ARGV[4] ~= project) then
    return {UNKNOWN}
end
-- One in steady use is never idle long enough to expire by itself.
if now >= tonumber(born) + max_age then
    redis.call('DEL', unpack(KEYS))
    return {UNKNOWN}
end

-- Every read and write renews the hold; the session's age caps it.
local function touch()
    local ttl = math.max(1, math.min(tonumber(hold), tonumber(born) + max_age - now))
    for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, ttl) end
    return ttl
end
