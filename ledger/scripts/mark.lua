-- Says that a commit may be under way. ARGV 5: token; 6: '1' when PostgreSQL was asked whose session this is.
-- {0}: it must be asked first.
if ARGV[6] ~= '1' and expired() then return {EXPIRED} end
if ARGV[6] ~= '1' and (foreign or not loaded) then return {STALE} end
local generation = redis.call('HINCRBY', KEYS[1], 'gen', 1)
redis.call('HSET', KEYS[1], 'd:' .. ARGV[5], now .. ' ' .. generation)
redis.call('PERSIST', KEYS[1])
touch()
return {DONE}
