-- Shared by the ledger scripts. KEYS: state, items. ARGV: now (seconds), caller's agent, caller's project.
-- A script answers {0} when the hash cannot be trusted. One that belongs to another agent or project than the
-- caller's counts as such: PostgreSQL refuses the caller, or knows that the session was given to it since.
local STALE, DONE = 0, 1
local now = tonumber(ARGV[1])
local loaded, agent, project = unpack(redis.call('HMGET', KEYS[1], 'loaded', 'agent', 'project'))

local foreign = (ARGV[2] ~= '' and ARGV[2] ~= agent) or (ARGV[3] ~= '' and ARGV[3] ~= project)
