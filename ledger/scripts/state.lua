-- Shared by the ledger scripts. KEYS: state, items, then the session's own, its meta first.
-- ARGV: now (seconds), caller's agent, caller's project, maximum session age (seconds) where the session's meta
-- holds none; then the script's own.
-- A script answers {0} when the hash cannot be trusted. One that belongs to another agent or project than the
-- caller's counts as such: PostgreSQL refuses the caller, or knows that the session was given to it since.
-- {2}: the conversation has expired, and its ledger with it.
local STALE, DONE, EXPIRED = 0, 1, 2
local now = tonumber(ARGV[1])
local loaded, life, agent, project =
    unpack(redis.call('HMGET', KEYS[1], 'loaded', 'life', 'agent', 'project'))

local foreign = (ARGV[2] ~= '' and ARGV[2] ~= agent) or (ARGV[3] ~= '' and ARGV[3] ~= project)

local born, hold, age, living = unpack(redis.call('HMGET', KEYS[3], 'born', 'ttl', 'age', 'life'))
local left = born and tonumber(born) + tonumber(age or ARGV[4]) - now or 0

-- Whether the life that the ledger belongs to is over. Under another run of the server nothing can be said: the
-- session may be missing because it was lost.
local function expired() return loaded == run_id() and (left <= 0 or living ~= life) end

-- Renews the session's hold. Comes last: a full server refuses a script by its first write only.
local function touch()
    if left <= 0 then return end
    for i = 3, #KEYS do redis.call('EXPIRE', KEYS[i], math.max(1, math.min(tonumber(hold), left))) end
end
