-- ARGV 5: a new hold in seconds or ''; 6: size limit in bytes at which to undo, 0 for never; 7…: field, value.
local before = {}
if ARGV[6] ~= '0' then
    for i = 7, #ARGV, 2 do before[ARGV[i]] = redis.call('HGET', KEYS[2], ARGV[i]) end
end
for i = 7, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
local size = redis.call('MEMORY', 'USAGE', KEYS[2], 'SAMPLES', 0) or 0
if ARGV[6] ~= '0' and size > tonumber(ARGV[6]) then
    for field, value in pairs(before) do
        if value then redis.call('HSET', KEYS[2], field, value) else redis.call('HDEL', KEYS[2], field) end
    end
elseif ARGV[5] ~= '' then
    hold = ARGV[5]
    redis.call('HSET', KEYS[1], 'ttl', hold)
end
return {DONE, touch(), size, redis.call('HGETALL', KEYS[2])}
