-- ARGV 5: '1' to measure the hash.
local size = ARGV[5] == '1' and redis.call('MEMORY', 'USAGE', KEYS[2], 'SAMPLES', 0) or 0
return {DONE, touch(), size or 0, redis.call('HGETALL', KEYS[2])}
