-- Tasks of the robot that administrators order, and the places of links that they find (R-7).

-- name: lock_orders
SELECT pg_advisory_xact_lock(hashtextextended('weboid robot orders', 0))

-- name: count_waiting
SELECT count(*) FROM robot_task WHERE state = 'waiting'

-- name: record_order
-- A run that was stopped does not go on: `ended` makes the next one a new run.
INSERT INTO robot_task (name, starts, orders, run, day, wanted, state, ordered, ended)
VALUES (%(name)s, %(starts)s, '{}', 0, %(day)s, %(wanted)s, 'waiting', now(), now())
ON CONFLICT (name) DO UPDATE SET
    starts = excluded.starts, wanted = excluded.wanted, state = 'waiting', ordered = now(), ended = now(),
    is_to_stop = false, progress = '{}'
WHERE robot_task.state NOT IN ('waiting', 'running')
RETURNING task

-- name: record_stop
UPDATE robot_task SET is_to_stop = true
WHERE task = %(task)s AND state IN ('waiting', 'running') AND NOT is_to_stop
RETURNING name

-- name: list_ordered
-- Those that wait or run first, in the order in which they begin; then the newest.
SELECT task, name, starts, wanted, state, ordered, extract(epoch FROM now() - ordered)::float8, ended, is_to_stop,
    progress
FROM robot_task
WHERE ordered IS NOT NULL AND (%(task)s::integer IS NULL OR task = %(task)s)
    AND (state IN ('waiting', 'running') OR NOT %(active)s)
ORDER BY state = 'running' DESC, state = 'waiting' DESC,
    CASE WHEN state = 'waiting' THEN coalesce((wanted ->> 'priority')::integer, 0) END DESC,
    CASE WHEN state = 'waiting' THEN ordered END, ordered DESC
LIMIT %(limit)s

-- name: record_state
UPDATE robot_task SET state = %(state)s, is_to_stop = is_to_stop AND %(state)s IN ('waiting', 'running'),
    progress = progress || %(progress)s::jsonb,
    ended = CASE WHEN %(state)s IN ('waiting', 'running') THEN ended ELSE now() END
WHERE task = %(task)s AND state IN ('waiting', 'running')
RETURNING is_to_stop

-- name: record_places
INSERT INTO robot_place (task, number, host, reason, state, size, places)
SELECT %(task)s, given.number, given.host, given.reason, given.state, given.size, given.places
FROM unnest(
    %(number)s::integer[], %(host)s::text[], %(reason)s::text[], %(state)s::text[], %(size)s::integer[],
    %(places)s::bytea[]
) AS given (number, host, reason, state, size, places)
ORDER BY given.number

-- name: delete_places
DELETE FROM robot_place USING (
    SELECT task, number FROM robot_place WHERE task = %(task)s ORDER BY task, number FOR UPDATE
) AS past
WHERE robot_place.task = past.task AND robot_place.number = past.number

-- name: delete_past_places
DELETE FROM robot_place USING (
    SELECT task, number FROM robot_place
    WHERE NOT EXISTS (
        SELECT FROM robot_task
        WHERE robot_task.task = robot_place.task
            AND (ended IS NULL OR ended > now() - make_interval(days => %(days)s))
    )
    ORDER BY task, number
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
) AS past
WHERE robot_place.task = past.task AND robot_place.number = past.number

-- name: list_places
SELECT number, places FROM robot_place
WHERE task = %(task)s AND number > %(after)s
    AND (%(host)s::text IS NULL OR (host = %(host)s AND reason = %(reason)s AND state = %(state)s))
ORDER BY number
LIMIT %(limit)s

-- name: list_faults
SELECT host, reason, state, sum(size)::integer FROM robot_place
WHERE task = %(task)s AND host IS NOT NULL
GROUP BY host, reason, state
ORDER BY 4 DESC, host, reason, state
LIMIT %(limit)s

-- name: list_branches
-- URLs of the start's own server are kept without its origin; fragments are none of the tree.
SELECT name, count(*), count(*) FILTER (WHERE broken), min(http)
FROM (
    SELECT substring(substr(url, length(%(at)s) + 1) FROM '^[?]?[^/?]*/?') COLLATE "C" AS name, broken, http
    FROM robot_entry
    WHERE task = %(task)s AND starts_with(url, %(at)s) AND strpos(url, '#') = 0
) AS branch
WHERE name > %(after)s OR %(after)s = ''
GROUP BY name
ORDER BY name
LIMIT %(limit)s
