-- A stand-in for English Wikipedia's Module:Citation/CS1, of our own: it renders the link of a citation and its copy, and
-- complains, by message and category, about what that module complains about where links and copies are concerned.
local p = {}

local aliases = {
	url = { 'url', 'URL' },
	title = { 'title', 'script-title', 'contribution', 'chapter', 'encyclopedia' },
	access_date = { 'access-date', 'accessdate' },
	archive_url = { 'archive-url', 'archiveurl' },
	archive_date = { 'archive-date', 'archivedate' },
	status = { 'url-status' },
}
local statuses = { dead = true, live = true, unfit = true, usurped = true, deviated = true, ['bot: unknown'] = true }
local obsolete = { 'dead-url', 'deadurl' }

local function complaint( done, category )
	done.categories[category] = true
end

local function value_of( args, names, done )
	local found
	for _, name in ipairs( names ) do
		local value = args[name]
		if value and mw.text.trim( value ) ~= '' then
			if found and names ~= aliases.title then
				complaint( done, 'CS1 errors: redundant parameter' )
			end
			found = found or mw.text.trim( value )
		end
	end
	return found
end

-- The day of a date in any form that the parser functions read, as eight digits; nil if it is no date.
local function day_of( date )
	local is_date, day = pcall( function ()
		return mw.getContentLanguage():formatDate( 'Ymd', date )
	end )
	return is_date and day or nil
end

local function check_copy( done, url, archive_url, archive_date )
	if not archive_url then
		if archive_date then
			complaint( done, 'CS1 errors: archive-url' )
		end
		return
	end
	if not url or not archive_date or archive_url == url or not archive_url:match( '^https?://[^%s]+$' ) then
		complaint( done, 'CS1 errors: archive-url' )
	end
	local stamp = archive_url:match( '//web%.archive%.org/web/(%d%d%d%d%d%d%d%d)%d*/' )
	if archive_url:match( '//web%.archive%.org/' ) and not stamp then
		complaint( done, 'CS1 errors: archive-url' )
	end
	if stamp and archive_date and day_of( archive_date ) ~= stamp then
		complaint( done, 'CS1 maint: archive-date does not match its copy' )
	end
end

function p.cite( frame )
	local args = frame:getParent().args
	local done = { categories = {} }
	local url = value_of( args, aliases.url, done )
	local title = value_of( args, aliases.title, done )
	local archive_url = value_of( args, aliases.archive_url, done )
	local archive_date = value_of( args, aliases.archive_date, done )
	local access_date = value_of( args, aliases.access_date, done )
	local status = value_of( args, aliases.status, done )
	if not title then
		complaint( done, 'CS1 errors: missing title' )
	elseif title == 'Archived copy' then
		complaint( done, 'CS1 maint: archived copy as title' )
	end
	if access_date and not url then
		complaint( done, 'CS1 errors: access-date without URL' )
	end
	for _, date in ipairs( { access_date or false, archive_date or false } ) do
		if date and not day_of( date ) then
			complaint( done, 'CS1 errors: dates' )
		end
	end
	for _, name in ipairs( obsolete ) do
		if args[name] then
			complaint( done, 'CS1 errors: unsupported parameter' )
		end
	end
	if status and not statuses[status] then
		complaint( done, 'CS1 errors: invalid parameter value' )
	elseif status and not archive_url then
		complaint( done, 'CS1 maint: url-status' )
	end
	check_copy( done, url, archive_url, archive_date )

	local name = title or '(no title)'
	local parts = { name .. '.' }
	if archive_url and status ~= 'live' then
		parts = { '[' .. archive_url .. ' ' .. name .. '].', 'Archived from [' .. ( url or '' ) .. ' the original].' }
	elseif url then
		parts = { '[' .. url .. ' ' .. name .. '].' }
		if archive_url then
			parts[2] = '[' .. archive_url .. ' Archived] from the original.'
		end
	end
	local out = '<cite class="citation">' .. table.concat( parts, ' ' ) .. '</cite>'
	local categories = {}
	for category in pairs( done.categories ) do
		categories[#categories + 1] = category
	end
	table.sort( categories )
	for _, category in ipairs( categories ) do
		local kind = category:match( '^CS1 errors' ) and 'error' or 'cs1-maint'
		out = out .. '<span class="' .. kind .. '">' .. category .. '</span>[[Category:' .. category .. ']]'
	end
	return out
end

return p
