-- ARGV 5: entries wanted. Answers coherent (1 or 0), generation, number of entries, summary, agent, newest event
-- that windows leave to the summary, entries.
local meta = redis.call('HGETALL', KEYS[1])
local known, marked, generation, run, compacted = false, false, '0', nil, '0'
for i = 1, #meta, 2 do
    if meta[i] == 'seq' then known = true
    elseif meta[i] == 'run' then run = meta[i + 1]
    elseif meta[i] == 'gen' then generation = meta[i + 1]
    elseif meta[i] == 'compacted' then compacted = meta[i + 1]
    elseif string.sub(meta[i], 1, 2) == 'd:' then marked = true end
end
touch()
local server = run_id()
return {
    DONE, known and not marked and run == server and 1 or 0, generation .. '@' .. server,
    redis.call('LLEN', KEYS[3]), redis.call('GET', KEYS[4]) or '', agent or '', tonumber(compacted),
    redis.call('LRANGE', KEYS[3], -tonumber(ARGV[5]), -1),
}
