-- Names this run of the server. A list written under another run may lack the last second before a crash or
-- a failover, together with the mark that said so: it is not trusted.
local function run_id() return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') end
