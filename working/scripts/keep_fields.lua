-- Puts the fields of a session that came as a whole in place of those that came so before. ARGV 5: its version;
-- 6: the names of its fields as JSON; 7…: field, value. The words of two writers may come in any order.
local version, names = unpack(redis.call('HMGET', KEYS[1], 'version', 'names'))
if tonumber(ARGV[5]) >= tonumber(version or '0') then
    for _, name in ipairs(cjson.decode(names or '[]')) do redis.call('HDEL', KEYS[2], name) end
    for i = 7, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
    redis.call('HSET', KEYS[1], 'version', ARGV[5], 'names', ARGV[6])
end
touch()
return {DONE}
