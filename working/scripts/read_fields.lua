-- ARGV 5: '1' to measure the hash. Answers the hold, the size, the names that came with the whole session last as
-- JSON, the version of that, the fields.
local size = ARGV[5] == '1' and redis.call('MEMORY', 'USAGE', KEYS[2], 'SAMPLES', 0) or 0
local version, names = unpack(redis.call('HMGET', KEYS[1], 'version', 'names'))
return {DONE, touch(), size or 0, names or '[]', version or '0', redis.call('HGETALL', KEYS[2])}
