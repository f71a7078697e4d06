-- One exchange of a replica with the others: it says what it holds and needs, and learns what it may take or must give.
--
-- KEYS[1] is a hash. A field "m:<id>" is a member: held, sequence number, needs of three lanes, times of its last word
-- and of its end, whether it leaves. The other fields are times or counters. All times are milliseconds of Redis' clock.
--
-- A member's account is what it says it holds plus what was granted since; the pool is what no account holds. Slots in
-- the pool have rested, so that a grant can be used at once.
local id, seq, held = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local need = {tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])}
local extra, size, replicas, floor = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local lease, gone, leaving, pause = tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])
local known = ARGV[15] == '1'
local acked, least, most, stepped = tonumber(ARGV[16]), tonumber(ARGV[17]), tonumber(ARGV[18]), ARGV[19] == '1'

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local server = redis.pcall('INFO', 'server')
local run = type(server) == 'string' and string.match(server, 'run_id:(%w+)')
if not run then
	return redis.error_reply('ERR a shared rate limit needs INFO (+info) with run_id: it must see restarts and failovers')
end
local up = (tonumber(string.match(server, 'uptime_in_seconds:(%d+)')) or 0) * 1000

local state, members, stayed, flat = {}, {}, known, redis.call('HGETALL', KEYS[1])
for i = 1, #flat, 2 do
	if string.sub(flat[i], 1, 2) == 'm:' then
		local m = {}
		for part in string.gmatch(flat[i + 1], '[^ ]+') do m[#m + 1] = tonumber(part) end
		local member = {held = m[1], seq = m[2], need = {m[3], m[4], m[5]}, seen = m[6], ends = m[7], leaves = m[8] == 1}
		members[string.sub(flat[i], 3)] = member
		stayed = stayed or not member.leaves
	else
		state[flat[i]] = tonumber(flat[i + 1]) or flat[i + 1]
	end
end

-- All times move by the steps of the clock since the last exchange. The replica knows at least and at most how long ago it exchanged;
-- without that knowledge, at most a lease has passed. If more has passed than the replica knows, either the clock was set forward or
-- this report is late: then nothing changes until the replica confirms that it got the response. Silent means that for more than
-- a lease no replica may have reached Redis, although at least one had not left: it may be using slots that are in no account.
local me = members[id]
local seen, step, silent = state.seen or 0, 0, false
if #flat > 0 then
	local knows = acked > 0 and me and acked <= me.seq
	least = knows and acked == me.seq and math.max(0, me.seen - seen + least) or 0
	most = knows and math.max(0, me.seen - seen + most + 1) or lease
	local passed = now - seen
	if knows and passed > most and not stepped then return {-2, 0, 0, 0, 0, 0, 0} end
	local believed = math.min(math.max(passed, least), most)
	silent = stayed and (believed > lease or (believed ~= passed and (not knows or most > lease)))
	step = passed - believed
end
local ended = {}
for name, m in pairs(members) do
	m.seen, m.ends = m.seen + step, m.ends + step
	if m.ends <= now then
		members[name] = nil
		ended[#ended + 1] = name
	end
end
me = members[id]
if me and seq <= me.seq then return {-1, 0, 0, 0, 0, 0, 0} end

-- Until open, nothing is granted: replicas that are not heard of may still be using slots. So it is when this Redis
-- is not the one of the last exchange, after a silence, and when what a member knows is forgotten.
local open, paused = (state.open or 0) + step, (state.pause or 0) + step
if #flat == 0 and not known then
	open = now + math.max(0, gone - up)
elseif state.run ~= 'r' .. run or silent then
	open = now + gone
end

if leaving > 0 then
	me = {held = held, seq = seq, need = {0, 0, 0}, seen = now, ends = now + leaving, leaves = true}
else
	me = {held = held, seq = seq, need = need, seen = now, ends = now + gone, leaves = false}
end
members[id] = me

local pauses = state.pauses or 0
if pause > 0 and now + pause > paused then paused, pauses = now + pause, pauses + 1 end

-- Who is there, what is free, and what stays back for configured replicas that have not come yet.
local count, free, live = 0, size, {}
for name, m in pairs(members) do
	free = free - m.held
	if not m.leaves then
		count = count + 1
		if now - m.seen <= lease then live[#live + 1] = {name = name, held = m.held, need = m.need, allot = {0, 0, 0}} end
	end
end
local kept = math.max(0, replicas - count) * floor
local spare, total = free - kept, size - kept

-- Each lane in turn shares out what the lanes above left: nobody gets more than it needs, and who needs more than an
-- even share gets an even share. Each lower lane that needs slots is sure of a sixteenth; call leaves the last 0.4 %
-- to money, and bulk the last 2 % to both.
local needs = {0, 0, 0}
for _, m in ipairs(live) do
	for lane = 1, 3 do needs[lane] = needs[lane] + m.need[lane] end
end
local sure = {0, math.min(needs[2], math.floor(size / 16)), math.min(needs[3], math.floor(size / 16))}
local bulk = math.floor(size / 50)
if size >= 4 then bulk = math.max(bulk, 1) end
local limit = {total - sure[2] - sure[3], total - sure[3] - math.floor(size / 250), total - bulk}
local used = 0
for lane = 1, 3 do
	local left = math.min(needs[lane], math.max(limit[lane] - used, sure[lane]))
	table.sort(live, function(a, b)
		if a.need[lane] ~= b.need[lane] then return a.need[lane] < b.need[lane] end
		return a.name < b.name
	end)
	for i, m in ipairs(live) do
		m.allot[lane] = math.min(m.need[lane], math.floor(left / (#live - i + 1)))
		left = left - m.allot[lane]
		used = used + m.allot[lane]
	end
end

local mine, missing = nil, {0, 0, 0} -- what others lack, up to each lane
local lacking = 0
for _, m in ipairs(live) do
	if m.name == id then
		mine = m
	else
		local sum = 0
		for lane = 1, 3 do
			sum = sum + m.allot[lane]
			missing[lane] = missing[lane] + math.max(0, sum - m.held)
		end
		lacking = lacking + math.max(0, sum - m.held)
	end
end

local granted, give, allot = 0, 0, held
if mine then
	local target = math.max(floor, mine.allot[1] + mine.allot[2] + mine.allot[3])
	allot = math.max(target, held)
	if now >= open then
		local sum = 0
		for lane = 1, 3 do
			sum = sum + mine.allot[lane]
			local before = 0
			if lane > 1 then before = missing[lane - 1] end
			granted = granted + math.max(0, math.min(sum - held - granted, spare - granted - before))
		end
		granted = granted + math.max(0, math.min(floor - held - granted, spare - granted))
		local wanted = mine.need[1] + mine.need[2] + mine.need[3]
		if granted + held >= wanted then
			granted = granted + math.max(0, math.min(extra, math.floor((spare - granted - lacking) / (count + 1))))
		end
		if lacking > spare and held > target then
			give = math.min(held - target, lacking - spare)
			allot = held - give
		end
	end
	me.held = held + granted
end

for _, name in ipairs(ended) do redis.call('HDEL', KEYS[1], 'm:' .. name) end
for name, m in pairs(step ~= 0 and members or {[id] = me}) do
	redis.call('HSET', KEYS[1], 'm:' .. name, string.format('%d %d %d %d %d %d %d %d', m.held, m.seq,
		m.need[1], m.need[2], m.need[3], m.seen, m.ends, m.leaves and 1 or 0))
end
redis.call('HSET', KEYS[1], 'seen', string.format('%d', now), 'open', string.format('%d', open), 'run', 'r' .. run,
	'pause', string.format('%d', paused), 'pauses', string.format('%d', pauses))
redis.call('PEXPIRE', KEYS[1], string.format('%d', math.max(2592000000, 2 * gone))) -- longer than any step of the clock
return {granted, give, allot, count, math.max(0, paused - now), pauses, math.max(0, open - now)}
