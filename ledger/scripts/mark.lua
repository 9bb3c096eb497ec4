-- Says that a commit may be under way. ARGV 4: token; 5: '1' when PostgreSQL was asked whose session this is.
-- {0}: it must be asked first.
if ARGV[5] ~= '1' and (foreign or not loaded) then return {STALE} end
redis.call('HINCRBY', KEYS[1], 'gen', 1)
redis.call('HSET', KEYS[1], 'd:' .. ARGV[4], now)
redis.call('PERSIST', KEYS[1])
return {DONE}
