-- ARGV 5: an item key, or nothing for all. Answers the generation, then the items.
if expired() then return {EXPIRED} end
local generation, marked = '0', false
local state = redis.call('HGETALL', KEYS[1])
for i = 1, #state, 2 do
    if state[i] == 'gen' then generation = state[i + 1] end
    if string.sub(state[i], 1, 2) == 'd:' then marked = true end
end
local server = run_id()
generation = generation .. '@' .. server
if marked or foreign or loaded ~= server then return {STALE, generation} end
touch()
if ARGV[5] then return {DONE, generation, redis.call('HMGET', KEYS[2], ARGV[5])} end
return {DONE, generation, redis.call('HGETALL', KEYS[2])}
