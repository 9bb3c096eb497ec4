-- Makes a session of PostgreSQL known to Redis; whether it was not. KEYS: meta.
-- ARGV: now, maximum age, hold, agent, project, newest event number, tenant, user, number of turns, newest event
-- that windows leave to the summary.
local born = redis.call('HSETNX', KEYS[1], 'born', ARGV[1])
if born == 1 then
    -- Tells this life of the session from one before or after it, and its generations from theirs.
    local life = string.format('%d%06d', unpack(redis.call('TIME')))
    redis.call('HSET', KEYS[1], 'ttl', ARGV[3], 'age', ARGV[2], 'life', life, 'gen', life,
        'tenant_id', ARGV[7], 'user_id', ARGV[8], 'turn_count', ARGV[9], 'compacted', ARGV[10])
    -- An empty list is the whole of a session without events; any other is rebuilt by its first reader.
    if ARGV[6] == '0' then redis.call('HSET', KEYS[1], 'seq', 0, 'run', run_id()) end
    redis.call('EXPIRE', KEYS[1], math.min(tonumber(ARGV[2]), tonumber(ARGV[3])))
end
redis.call('HSET', KEYS[1], 'agent', ARGV[4], 'project', ARGV[5])
return born
