-- Puts the items loaded from PostgreSQL in place, unless a writer was at work meanwhile.
-- ARGV 5: generation before the load, and under which server; 6: age in seconds after which a mark is dead;
-- 7, 8: the session's agent and project; 9…: item key, value.
local server = run_id()
if (redis.call('HGET', KEYS[1], 'gen') or '0') .. '@' .. server ~= ARGV[5] then return {DONE} end
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(field, 1, 2) == 'd:' then
        local marked = string.match(redis.call('HGET', KEYS[1], field), '^%S+')
        if now - tonumber(marked) < tonumber(ARGV[6]) then return {DONE} end
        redis.call('HDEL', KEYS[1], field)
    end
end
redis.call('DEL', KEYS[2])
for i = 9, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
local living = redis.call('HGET', KEYS[3], 'life') or ''
redis.call('HSET', KEYS[1], 'loaded', server, 'life', living, 'agent', ARGV[7], 'project', ARGV[8])
-- Nobody ends what holds nothing: it goes by itself, unless something is marked meanwhile.
if #ARGV < 9 then redis.call('EXPIRE', KEYS[1], ARGV[6]) else redis.call('PERSIST', KEYS[1]) end
return {DONE}
