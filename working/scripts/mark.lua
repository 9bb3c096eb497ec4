-- Says that a commit may be under way, so that nobody trusts the turns list meanwhile. ARGV 5: token.
-- Answers the session's agent.
redis.call('HINCRBY', KEYS[1], 'gen', 1)
redis.call('HSET', KEYS[1], 'd:' .. ARGV[5], now)
touch()
return {DONE, DONE}
