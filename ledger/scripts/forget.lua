-- Removes the items. Their generation stays for a while, lest a reader that loaded them before puts them back.
-- ARGV 5: token of the mark that preceded; 6: age in seconds after which a mark is dead.
redis.call('DEL', KEYS[2])
redis.call('HDEL', KEYS[1], 'd:' .. ARGV[5], 'loaded', 'life', 'agent', 'project')
redis.call('HINCRBY', KEYS[1], 'gen', 1)
redis.call('EXPIRE', KEYS[1], ARGV[6])
return {DONE}
