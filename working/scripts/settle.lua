-- After the commit: applies what was committed and takes the mark away.
-- ARGV 5: token; 6: number of the newest event before (-1: nothing was committed); 7: newest after;
-- 8: entries to keep; 9: 's' and the summary if there is a new one, else ''; 10, 11: the session's agent and
-- project; 12: number of turns; 13: newest event that windows leave to the summary; 14: '1' if the next reader is
-- to load the turns; 15: '1' if they are in no log, so that only those that are here can be found; 16: how many of
-- these no window shows any more; 17…: their numbers, then entries.
local function number_of(entry) return tonumber(string.match(entry, '^{"seq":(%d+)')) end

-- Numbers are given out in the order of commits; their words reach Redis in any.
local function raise_to(field, value)
    if tonumber(value) > tonumber(redis.call('HGET', KEYS[1], field) or '0') then
        redis.call('HSET', KEYS[1], field, value)
    end
end

local function trim()
    redis.call('LTRIM', KEYS[3], -tonumber(ARGV[8]), -1)
    local compacted = tonumber(redis.call('HGET', KEYS[1], 'compacted') or '0')
    local oldest = compacted > 0 and redis.call('LINDEX', KEYS[3], 0)
    while oldest and number_of(oldest) <= compacted do
        redis.call('LPOP', KEYS[3])
        oldest = redis.call('LINDEX', KEYS[3], 0)
    end
end

local first = 17 + tonumber(ARGV[16])

-- Of turns that are in no log; otherwise the next reader loads those that are left.
local function take_out()
    local gone = {}
    for i = 17, first - 1 do gone[tonumber(ARGV[i])] = true end
    for _, entry in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
        if gone[number_of(entry)] then redis.call('LREM', KEYS[3], 1, entry) end
    end
    redis.call('HSET', KEYS[1], 'turn_count', ARGV[12])
end

redis.call('HDEL', KEYS[1], 'd:' .. ARGV[5])
redis.call('HINCRBY', KEYS[1], 'gen', 1)
if ARGV[6] ~= '-1' then
    local seq, run = unpack(redis.call('HMGET', KEYS[1], 'seq', 'run'))
    local whole = ARGV[14] == '0' and seq == ARGV[6] and run == run_id()
    redis.call('HSET', KEYS[1], 'agent', ARGV[10], 'project', ARGV[11])
    raise_to('turn_count', ARGV[12])
    raise_to('compacted', ARGV[13])
    if ARGV[9] ~= '' then redis.call('SET', KEYS[4], string.sub(ARGV[9], 2)) end
    if ARGV[15] == '1' and first > 17 then take_out() end
    if whole or ARGV[15] == '1' then
        -- Unless it is whole, the next reader puts it in order.
        for i = first, #ARGV do redis.call('RPUSH', KEYS[3], ARGV[i]) end
        trim()
    else
        -- Another writer's turns are missing here, or perhaps nobody asks again: the next reader loads them.
        redis.call('DEL', KEYS[3])
    end
    if whole then redis.call('HSET', KEYS[1], 'seq', ARGV[7]) else redis.call('HDEL', KEYS[1], 'seq') end
end
touch()
return {DONE}
