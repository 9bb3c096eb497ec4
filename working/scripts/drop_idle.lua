-- Takes sessions off the list of idle times, unless they were used since. KEYS: the sorted set.
-- ARGV: now (seconds); 2…: tags.
local dropped = 0
for i = 2, #ARGV do
    local idle_from = redis.call('ZSCORE', KEYS[1], ARGV[i])
    if idle_from and tonumber(idle_from) <= tonumber(ARGV[1]) then
        dropped = dropped + redis.call('ZREM', KEYS[1], ARGV[i])
    end
end
return dropped
