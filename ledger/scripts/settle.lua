-- After the commit: takes the mark away and applies the change. ARGV 4: token; 5: 'set', 'evict' or 'none';
-- 6: item key; 7: value.
redis.call('HDEL', KEYS[1], 'd:' .. ARGV[4])
redis.call('HINCRBY', KEYS[1], 'gen', 1)
if not loaded then return {DONE} end
if ARGV[5] == 'set' then redis.call('HSET', KEYS[2], ARGV[6], ARGV[7]) end
if ARGV[5] == 'evict' then redis.call('HDEL', KEYS[2], ARGV[6]) end
return {DONE}
