-- Shared by the ledger scripts. KEYS: state, items. ARGV: now (seconds), caller's agent, caller's project.
-- A script answers {0} when the hash cannot be trusted, {1} when the caller's key does not reach the session.
local STALE, FORBIDDEN, DONE = 0, 1, 2
local now = tonumber(ARGV[1])
local loaded, agent, project = unpack(redis.call('HMGET', KEYS[1], 'loaded', 'agent', 'project'))

local function forbidden()
    return loaded and ((ARGV[2] ~= '' and ARGV[2] ~= agent) or (ARGV[3] ~= '' and ARGV[3] ~= project))
end
