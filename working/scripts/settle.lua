-- After the commit: applies what was committed and takes the mark away.
-- ARGV 5: token; 6: number of the newest event before (-1: nothing was committed); 7: newest after;
-- 8: entries to keep; 9: 's' and the summary if the session was closed, else ''; 10, 11: the session's agent
-- and project; 12…: entries.
redis.call('HDEL', KEYS[1], 'd:' .. ARGV[5])
redis.call('HINCRBY', KEYS[1], 'gen', 1)
if ARGV[6] ~= '-1' then
    redis.call('HSET', KEYS[1], 'agent', ARGV[10], 'project', ARGV[11])
    if ARGV[9] ~= '' then
        -- Perhaps nobody asks again: the summary stays, the next reader, if any, loads the turns.
        redis.call('DEL', KEYS[3])
        redis.call('HDEL', KEYS[1], 'seq')
        redis.call('SET', KEYS[4], string.sub(ARGV[9], 2))
    elseif redis.call('HGET', KEYS[1], 'seq') == ARGV[6] and redis.call('HGET', KEYS[1], 'run') == run_id() then
        for i = 12, #ARGV do redis.call('RPUSH', KEYS[3], ARGV[i]) end
        redis.call('LTRIM', KEYS[3], -tonumber(ARGV[8]), -1)
        redis.call('HSET', KEYS[1], 'seq', ARGV[7])
    else
        -- Another writer's turns are missing here: the next reader rebuilds the list.
        redis.call('DEL', KEYS[3])
        redis.call('HDEL', KEYS[1], 'seq')
    end
end
touch()
return {DONE}
