-- After the commit: takes the mark away and applies the change. ARGV 5: token; 6: 'set', 'evict' or 'none';
-- 7…: item key, value.
local mark = redis.call('HGET', KEYS[1], 'd:' .. ARGV[5])
local generation = redis.call('HINCRBY', KEYS[1], 'gen', 1)
redis.call('HDEL', KEYS[1], 'd:' .. ARGV[5])
if not loaded or ARGV[6] == 'none' then return {DONE} end
-- Of writers at the same time, only PostgreSQL knows who committed last: a dead mark stays, with which nobody
-- trusts the copy before it is loaded again.
if not mark or tonumber(string.match(mark, '%S+$')) ~= generation - 1 then
    redis.call('HSET', KEYS[1], 'd:' .. ARGV[5], 0)
    return {DONE}
end
for i = 7, #ARGV, 2 do
    if ARGV[6] == 'set' then redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
    if ARGV[6] == 'evict' then redis.call('HDEL', KEYS[2], ARGV[i]) end
end
return {DONE}
