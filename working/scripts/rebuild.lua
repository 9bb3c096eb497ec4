-- Puts back the list that a reader loaded from PostgreSQL, unless a writer was at work meanwhile.
-- ARGV 5: generation before the load, and under which server; 6: age in seconds after which a writer's mark is dead;
-- 7: newest event number; 8: summary; 9: number of turns; 10: newest event that windows leave to the summary;
-- 11…: entries.
local server = run_id()
if (redis.call('HGET', KEYS[1], 'gen') or '0') .. '@' .. server ~= ARGV[5] then return {DONE, 0} end
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(field, 1, 2) == 'd:' then
        if now - tonumber(redis.call('HGET', KEYS[1], field)) < tonumber(ARGV[6]) then return {DONE, 0} end
        redis.call('HDEL', KEYS[1], field)
    end
end
redis.call('DEL', KEYS[3], KEYS[4])
for i = 11, #ARGV do redis.call('RPUSH', KEYS[3], ARGV[i]) end
if ARGV[8] ~= '' then redis.call('SET', KEYS[4], ARGV[8]) end
redis.call('HSET', KEYS[1], 'seq', ARGV[7], 'run', server, 'turn_count', ARGV[9], 'compacted', ARGV[10])
touch()
return {DONE, 1}
