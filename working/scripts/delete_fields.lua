-- ARGV 5: 'all', or 'some' and then the fields. Answers the names that were there.
local deleted = {}
if ARGV[5] == 'all' then
    deleted = redis.call('HKEYS', KEYS[2])
    redis.call('DEL', KEYS[2])
else
    for i = 6, #ARGV do
        if redis.call('HDEL', KEYS[2], ARGV[i]) == 1 then deleted[#deleted + 1] = ARGV[i] end
    end
end
touch()
return {DONE, deleted}
