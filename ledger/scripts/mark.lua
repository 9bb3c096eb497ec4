-- Says that a commit may be under way. ARGV 4: token. {0}: the session must be looked up first.
if not loaded then return {STALE} end
if forbidden() then return {FORBIDDEN} end
redis.call('HINCRBY', KEYS[1], 'gen', 1)
redis.call('HSET', KEYS[1], 'd:' .. ARGV[4], now)
return {DONE}
