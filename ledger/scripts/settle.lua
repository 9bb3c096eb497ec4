-- After the commit: takes the mark away and applies the change. ARGV 5: token; 6: 'set', 'evict' or 'none';
-- 7…: item key, value.
redis.call('HDEL', KEYS[1], 'd:' .. ARGV[5])
redis.call('HINCRBY', KEYS[1], 'gen', 1)
if not loaded then return {DONE} end
for i = 7, #ARGV, 2 do
    if ARGV[6] == 'set' then redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
    if ARGV[6] == 'evict' then redis.call('HDEL', KEYS[2], ARGV[i]) end
end
return {DONE}
