-- The whole schema as the migrations leave it: read this one. A test keeps the two equal.

-- Farms, wikis and pages: what is watched (P-1 … P-3).

CREATE TABLE farm (
    farm smallint PRIMARY KEY,
    name text NOT NULL UNIQUE
);

CREATE TABLE wiki (
    wiki integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    farm smallint NOT NULL REFERENCES farm,
    dbname text NOT NULL,
    -- api.php, and the address in front of a title; NULL while the wiki is known from dumps only.
    api text,
    article text,
    -- The day on which a pass over the wiki was last completed (U-8's guard).
    passed smallint,
    -- How long that pass took: in days of the program's calendar, and in real seconds.
    pass_days smallint,
    pass_s integer,
    UNIQUE (farm, dbname)
);

-- How a wiki names its namespaces, with spaces: the local name, canonical English one and aliases of each; '' = the main
-- one. is_cased: the case of a title's first letter counts. For titles with their prefix, while the wiki is silent.
CREATE TABLE namespace (
    wiki integer NOT NULL REFERENCES wiki,
    namespace integer NOT NULL,
    name text NOT NULL,
    is_alias boolean NOT NULL,
    is_cased boolean NOT NULL,
    PRIMARY KEY (wiki, name)
);

-- urls: the keys of the page's watched URLs, 18 bytes each (bucket, host_key, url_key, big-endian), sorted:
-- intake compares and deletes by full key without reading the big tables.
CREATE TABLE page (
    wiki integer NOT NULL REFERENCES wiki,
    page integer NOT NULL,
    namespace integer NOT NULL,
    touched smallint NOT NULL,
    asked smallint,
    flagged boolean NOT NULL DEFAULT false,
    latest bigint NOT NULL,
    title text NOT NULL,
    urls bytea NOT NULL DEFAULT '',
    -- Differs when its links may have changed (MediaWiki's time of its links, as a number); NULL = unknown.
    mark bigint,
    -- The moment of the last event that added links; NULL = never.
    grown timestamptz,
    -- The touch before; later than `touched` = the last pass that met it excluded it, and took its touch back.
    touched_before smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (wiki, page)
);
CREATE INDEX page_title ON page (wiki, namespace, title);

-- Hosts and URLs: what is checked. Keys are computed (core/url/keys.py); `bucket` is the unit of leases and sharding.

CREATE TABLE host (
    host_key bigint NOT NULL,
    bucket smallint NOT NULL,
    -- The day on which the first of its URLs is due; NULL = none is.
    next_day smallint,
    -- Its own streak of contacts that failed before an HTTP answer came (C-5).
    strikes smallint NOT NULL DEFAULT 0,
    failing_since smallint,
    failing_until smallint,
    reason smallint,
    host text NOT NULL,
    -- `org.example.www.`: sorts from the top-level domain down, makes "domain and all below" one range.
    reversed text COLLATE "C" NOT NULL,
    -- What those failures prove, packed (core/record/streak.py). Last, for columns can only be appended.
    evidence integer,
    -- The moment before which it is not visited again, and the seconds for each URL by which it is asked in portions
    -- (C-3); NULL = it never was.
    rests_until timestamptz,
    asked_every real,
    PRIMARY KEY (bucket, host_key)
);
CREATE INDEX host_next_day ON host (bucket, next_day);
CREATE INDEX host_reversed ON host (reversed);

-- status, since, asked = the newest history entry; older = the four before it, 5 bytes each (core/record/history.py).
-- http = the exact code of the newest check: 0 = it got none, NULL = not kept; evidence = what the strikes prove, packed
-- (core/record/streak.py); portrait = what the document looked like, packed (core/document/portrait.py); state_since = the first
-- day of the state, NULL = the same as since; orphaned_by = the wiki whose page had the last use of an orphan, NULL = it is
-- not known, one that is not in `wiki` was forgotten. These last, for columns can only be appended.
CREATE TABLE url (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    due smallint NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    since smallint,
    asked smallint,
    strikes smallint NOT NULL DEFAULT 0,
    failing_since smallint,
    failing_until smallint,
    reason smallint,
    orphaned smallint,
    mime smallint,
    scheme smallint NOT NULL,
    port integer NOT NULL,
    size_kib integer,
    path text NOT NULL,
    target text,
    older bytea,
    http smallint,
    evidence integer,
    portrait bytea,
    meant text,
    state_since smallint,
    orphaned_by integer,
    PRIMARY KEY (bucket, host_key, url_key)
);
-- Orphaned URLs are not checked any more (U-8).
CREATE INDEX url_due ON url (bucket, host_key, due) WHERE orphaned IS NULL;
-- Orphaned URLs, for expiry; small compared with the table (U-8).
CREATE INDEX url_orphaned ON url (bucket, host_key, url_key) WHERE orphaned IS NOT NULL;
-- What answers nothing but a bare 503 is never called dead (reason 67, core/record/reasons.py); it is counted.
CREATE INDEX url_unavailable ON url (since) WHERE reason = 67;

-- The use of a URL on a page (L-7).
CREATE TABLE link (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    wiki integer NOT NULL,
    page integer NOT NULL,
    bucket smallint NOT NULL,
    PRIMARY KEY (bucket, host_key, url_key, wiki, page)
);

-- Which worker may check and write which bucket until when, by the clock of the database.
CREATE TABLE lease (
    bucket smallint PRIMARY KEY,
    epoch bigint NOT NULL,
    worker text NOT NULL,
    until timestamptz NOT NULL
);
INSERT INTO lease (bucket, epoch, worker, until)
SELECT bucket, 0, '', '-infinity' FROM generate_series(0, 4095) AS bucket;

-- When each worker last wanted buckets: those that did so a moment ago share the ones with hosts that are due.
CREATE TABLE asking_worker (
    worker text PRIMARY KEY,
    asked timestamptz NOT NULL
);

-- The parts that run (O-5): one row for each process, written while it lives. `name` is unique for each start, `machine`
-- tells whether `pid` means anything to the reader, `figures` are counters since its start.
CREATE TABLE part (
    role text NOT NULL,
    name text NOT NULL,
    host text NOT NULL,
    machine text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    seen timestamptz NOT NULL DEFAULT now(),
    doing text NOT NULL DEFAULT '',
    figures jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (role, name)
) WITH (fillfactor = 50);

-- The log of verdict changes (U-10), and what is dead on which page, which follows from it.

CREATE TABLE change (
    change bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    day smallint NOT NULL,
    before smallint NOT NULL,
    after smallint NOT NULL,
    reason smallint,
    -- A wiki with rules of its own, of which its line is; 0 = the rule of all others.
    wiki integer NOT NULL DEFAULT 0
);
CREATE INDEX change_url ON change (bucket, host_key, url_key);
-- Links that died (verdict 3) or came back, by their place in the log, and the first of a day.
CREATE INDEX change_dead ON change (change) WHERE (before = 3) <> (after = 3);
CREATE INDEX change_dead_day ON change (day, change) WHERE (before = 3) <> (after = 3);
-- URLs that became doubtful (2).
CREATE INDEX change_doubtful ON change (change) WHERE after = 2 AND wiki = 0;

-- `repaired`: the page already offers an archived copy of the link (L-10); NULL = not derived yet.
CREATE TABLE dead (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    wiki integer NOT NULL,
    page integer NOT NULL,
    bucket smallint NOT NULL,
    since smallint NOT NULL,
    -- By which rule: 0 = by that of all wikis, 1 = by that, but not by the wiki's own, so it is not shown; 2 = by the
    -- wiki's own alone (core/verdict/wiki_rules.py).
    rule smallint NOT NULL DEFAULT 0,
    repaired boolean,
    PRIMARY KEY (wiki, page, bucket, host_key, url_key)
);
CREATE INDEX dead_rule ON dead (wiki, page, bucket, host_key, url_key) WHERE rule <> 0;
CREATE INDEX dead_repaired_unknown ON dead (wiki, page) WHERE repaired IS NULL;
-- The dead links of a wiki by host.
CREATE INDEX dead_host ON dead (wiki, bucket, host_key, page, url_key);
-- Those that are shown, by the day since when they are dead.
CREATE INDEX dead_since ON dead (wiki, since, page, bucket, host_key, url_key) WHERE rule <> 1;

-- Wikis with rules of their own (U-11): thresholds and lists as JSON, the number in the log after which their own lines
-- count instead of those of all, and whether all links that were dead then have been judged anew.
CREATE TABLE wiki_rule (
    wiki integer PRIMARY KEY REFERENCES wiki,
    rules text NOT NULL,
    begins bigint NOT NULL,
    applied boolean NOT NULL DEFAULT false
);

-- The scheme that the stored keys were computed with (O-10): a program with other versions must rekey first.
CREATE TABLE key_form (
    form_version smallint NOT NULL,
    suffix_version text NOT NULL,
    -- URLs of some domains are still at the keys of an earlier suffix list; programs run meanwhile.
    moving boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX key_form_single ON key_form ((true));

-- What a host needs (C-6), by kind (core/record/specials.py), with the first and the last day on which it was seen.
CREATE TABLE special (
    host_key bigint NOT NULL,
    bucket smallint NOT NULL,
    kind smallint NOT NULL,
    since smallint NOT NULL,
    until smallint NOT NULL,
    PRIMARY KEY (bucket, host_key, kind)
);

-- How a host answers for made-up URLs, packed (core/document/face.py), and the day on which that was last learned
-- (C-11).
CREATE TABLE face (
    host_key bigint NOT NULL,
    bucket smallint NOT NULL,
    learned smallint NOT NULL,
    face bytea NOT NULL,
    PRIMARY KEY (bucket, host_key)
);

-- When the next request to a host may be sent, for all workers (C-3, C-17). Unlogged: a crash of the server takes
-- longer than a turn lasts.
CREATE UNLOGGED TABLE slot (
    host_key bigint NOT NULL,
    bucket smallint NOT NULL,
    free timestamptz NOT NULL,
    -- A request of the worker that had the last turn is on its way: `free` is then the latest moment, not the expected one.
    held boolean NOT NULL DEFAULT false,
    -- A random number of the last turn, by which a request that is repeated is known.
    claim bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (bucket, host_key)
);

-- How many URLs were moved forward on a day because somebody looked at their pages (C-4). One row at most.
CREATE TABLE moved_forward (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    day smallint NOT NULL,
    urls integer NOT NULL
);

-- How many URLs were checked on each day, of the last two months (C-4).
CREATE TABLE checked (
    day smallint PRIMARY KEY,
    urls bigint NOT NULL
);

-- What crawlers and feeders did on each day of the last 400 days, for pictures (O-5): one row for each day and figure.
CREATE TABLE day_total (
    day smallint NOT NULL,
    figure text NOT NULL,
    total bigint NOT NULL,
    PRIMARY KEY (day, figure)
);

-- The links of a wiki at the end of each of the last 400 days, for its page (W-6): `died` and `back` on that day, the
-- others by then. `sampled` = `links` and `doubtful` are estimates, made of some of its pages.
CREATE TABLE wiki_total (
    wiki integer NOT NULL REFERENCES wiki,
    day smallint NOT NULL,
    pages integer NOT NULL,
    links bigint NOT NULL,
    dead integer NOT NULL,
    repaired integer NOT NULL,
    doubtful integer NOT NULL,
    died integer NOT NULL,
    back integer NOT NULL,
    sampled boolean NOT NULL,
    PRIMARY KEY (wiki, day)
);

-- Where most dead links of a wiki are, as of the newest of those days; `kind`: 0 = registrable domains, 1 = namespaces.
CREATE TABLE wiki_place (
    wiki integer NOT NULL REFERENCES wiki,
    kind smallint NOT NULL,
    subject text NOT NULL,
    dead integer NOT NULL,
    repaired integer NOT NULL,
    PRIMARY KEY (wiki, kind, subject)
);

-- How often working URLs are checked (C-4), since when; `calm` = days in a row before `day` on which all was checked in
-- time (core/record/pace.py). One row, none before it was looked at first.
CREATE TABLE pace (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    interval_days smallint NOT NULL,
    changed smallint NOT NULL,
    day smallint NOT NULL,
    calm smallint NOT NULL
);

-- Hosts with more URLs than can be checked in four weeks, and in how many days they are (C-3).
CREATE TABLE big_host (
    host_key bigint NOT NULL,
    bucket smallint NOT NULL,
    urls integer NOT NULL,
    days smallint NOT NULL,
    PRIMARY KEY (bucket, host_key)
);

-- Feeding: how far each pass and stream has come, which pages wait to be read, what is spam, which alarms are raised.

-- The pass under way over a wiki (P-5): `step` counts its criteria and phases, `place` is where to go on in the step.
CREATE TABLE pass (
    wiki integer PRIMARY KEY REFERENCES wiki,
    started smallint NOT NULL,
    begun timestamptz NOT NULL DEFAULT now(),
    step smallint NOT NULL,
    place text NOT NULL,
    plan text NOT NULL
);

-- Pages that were handed in to the feeder between two passes (P-6, P-8): by id, or by title with id 0.
-- They are read once the source has come past `seen`.
CREATE TABLE pending (
    wiki integer NOT NULL REFERENCES wiki,
    page integer NOT NULL,
    title text NOT NULL,
    seen timestamptz NOT NULL,
    -- Whether it is known to match a criterion that the page itself does not show, such as a category tree.
    matched boolean NOT NULL,
    PRIMARY KEY (wiki, page, title)
);

-- The category trees of the criteria as the last pass found them: a page put into one of them is new there (P-6).
CREATE TABLE category (
    wiki integer NOT NULL REFERENCES wiki,
    title text NOT NULL,
    started smallint NOT NULL,
    -- How far below the root it is, which is at 0; NULL = not known.
    depth smallint,
    PRIMARY KEY (wiki, title)
);

-- How far the events of a list of streams have taken effect: written in the transaction of the effects (P-6).
CREATE TABLE stream_position (
    streams text PRIMARY KEY,
    last_event_id text NOT NULL,
    moment timestamptz NOT NULL
);

-- Spam lists (L-3) as they were last fetched; dbname '' = the farm's own. `kind`: 0 = black, 1 = white.
CREATE TABLE spam_list (
    farm smallint NOT NULL REFERENCES farm,
    dbname text NOT NULL,
    kind smallint NOT NULL,
    day smallint NOT NULL,
    lines text NOT NULL,
    -- Lines that cannot be run, with the reason; shown on the status page.
    unusable text NOT NULL,
    PRIMARY KEY (farm, dbname, kind)
);

-- A URL that is spam on a page: a fact about that page, never of the URL as such (L-8).
CREATE TABLE spam_link (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    wiki integer NOT NULL,
    page integer NOT NULL,
    bucket smallint NOT NULL,
    url text NOT NULL,
    -- The day on which it was first met there as spam; NULL = before that was written.
    day smallint,
    PRIMARY KEY (wiki, page, bucket, host_key, url_key)
);
CREATE INDEX spam_link_day ON spam_link (wiki, day) WHERE day IS NOT NULL;
CREATE INDEX spam_link_url ON spam_link (bucket, host_key, url_key, wiki, page);

-- What an operator has to know (P-7, U-8): raised once, lowered when it is over.
CREATE TABLE alarm (
    kind text NOT NULL,
    subject text NOT NULL,
    since smallint NOT NULL,
    detail text NOT NULL,
    PRIMARY KEY (kind, subject)
);

-- Visits to groups of hosts by day (C-16), of the last week and only for groups with failing hosts, and of four weeks for
-- the names of all: `answered` = steady
-- hosts that answered again, `failed` = keys of domains with steady hosts that failed, `more` = beyond those kept, `still`
-- and `back` = hosts that had failed before, and did so again or answered. `subject` as in `alarm`.
CREATE TABLE loss_tally (
    subject text NOT NULL,
    day smallint NOT NULL,
    answered integer NOT NULL,
    more integer NOT NULL,
    still integer NOT NULL,
    back integer NOT NULL,
    failed bigint[] NOT NULL,
    PRIMARY KEY (subject, day)
);

-- The newest day on which a crawler worked, or which an operator confirmed: a clock that jumps away from it is not
-- believed (C-16). One row, none before the first round.
CREATE TABLE lived (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    day smallint NOT NULL
);

-- People: what they report and suggest, who did what, and how much each range of addresses may request.

-- "It works by hand" (H-1): at most one report for a URL, by an accountable identity (OAuth's subject, H-4).
CREATE TABLE report (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    day smallint NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (bucket, host_key, url_key)
);
CREATE INDEX report_subject ON report (subject);
CREATE INDEX report_day ON report (day);

-- The same for a registrable domain: by a person, or because half of its URLs are reported (H-3; no subject then).
CREATE TABLE domain_report (
    bucket smallint NOT NULL,
    domain text NOT NULL,
    day smallint NOT NULL,
    subject text,
    name text,
    PRIMARY KEY (bucket, domain)
);
CREATE INDEX domain_report_subject ON domain_report (subject);

-- Replacements for a dead URL, suggested by people (A-4): one of each `archive`, 0 = no archive (core/url/archives.py).
-- Shown only while it `works`; `asked` = day of its newest check, NULL = it waits for the first one.
CREATE TABLE replacement (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    archive smallint NOT NULL,
    day smallint NOT NULL,
    asked smallint,
    due smallint NOT NULL,
    strikes smallint NOT NULL DEFAULT 0,
    works boolean NOT NULL DEFAULT false,
    target text NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (bucket, host_key, url_key, archive)
);
CREATE INDEX replacement_subject ON replacement (subject);
CREATE INDEX replacement_due ON replacement (due);

-- Web archives (A-1 … A-3). In their keys the bucket comes late, which saves eight bytes an entry. Stamps are moments in UTC as 14 digits (20160102030405), as the services' addresses have them.

-- The chosen copy of a URL: at most one of each service (core/url/archives.py). `origin`: 0 = a page cites it, 1 = a
-- look-up chose it. `asked` = day of its newest visit, NULL = none yet; `wanted` = day of the citation that it was chosen
-- for; `note` = what people see with it (core/archive/choice.py); `address` only where it does not follow from
-- service, stamp and URL. Vacuumed often, for every row is written twice a quarter.
CREATE TABLE snapshot (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    stamp bigint NOT NULL CHECK (stamp BETWEEN 19900101000000 AND 99991231235959),
    bucket smallint NOT NULL,
    archive smallint NOT NULL,
    origin smallint NOT NULL,
    due smallint NOT NULL,
    asked smallint,
    strikes smallint NOT NULL DEFAULT 0,
    wanted smallint,
    note smallint NOT NULL DEFAULT 0,
    address text,
    preview text CHECK (octet_length(preview) <= 200),
    PRIMARY KEY (host_key, url_key, bucket, archive)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX snapshot_due ON snapshot (archive, due);

-- Watched URLs that are copies in web archives: not visited by rounds (their `url.due` is 32767), but by ``weboid archive``
-- when `due`. The key of the original is one for all spellings of its page (store/archives/cited_copy.py); it and the
-- moment are NULL where the copy's own URL does not tell them.
CREATE TABLE cited_copy (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    original_host_key bigint,
    original_url_key bigint,
    stamp bigint CHECK (stamp BETWEEN 19900101000000 AND 99991231235959),
    bucket smallint NOT NULL,
    original_bucket smallint,
    archive smallint NOT NULL,
    due smallint NOT NULL,
    PRIMARY KEY (host_key, url_key, bucket)
);
CREATE INDEX cited_copy_original ON cited_copy (original_bucket, original_host_key, original_url_key);
CREATE INDEX cited_copy_due ON cited_copy (archive, due);

-- What a service said of a URL when it was looked up there (core/archive/outcomes.py), and until when that holds.
-- `passed` = captures that were passed over, and why (JSON), NULL = none were.
CREATE TABLE lookup (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    archive smallint NOT NULL,
    outcome smallint NOT NULL,
    asked smallint NOT NULL,
    due smallint NOT NULL,
    failures smallint NOT NULL DEFAULT 0,
    passed text,
    PRIMARY KEY (host_key, url_key, bucket, archive)
);

-- URLs that have copies looked up: `rank` 0 = dead, 1 = doubtful, 2 = again; `day` = since when.
-- `waits` = now; else it is due again on day `due`. `until` = a worker has it.
CREATE TABLE copy_queue (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    rank smallint NOT NULL,
    day smallint NOT NULL,
    due smallint NOT NULL,
    waits boolean NOT NULL DEFAULT true,
    until timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (host_key, url_key, bucket)
);
CREATE INDEX copy_queue_next ON copy_queue (rank, day DESC) WHERE waits;
CREATE INDEX copy_queue_due ON copy_queue (due) WHERE NOT waits;

-- How far the log of verdict changes has been read for that queue. One row, none before the first.
CREATE TABLE copy_queue_position (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    change bigint NOT NULL
);

-- Pages that always change: no copy is chosen (A-1), unless an administrator has `lifted` that.
CREATE TABLE changing_page (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    day smallint NOT NULL,
    lifted boolean NOT NULL DEFAULT false,
    subject text,
    name text,
    PRIMARY KEY (host_key, url_key, bucket)
);

-- Each service's limits for all workers: when the next request of a kind (0 = index, 1 = playback, 2 = saving) may be
-- sent, until when it rests and why, how long the rest was, and the requests of a day.
CREATE TABLE archive_service (
    archive smallint NOT NULL,
    kind smallint NOT NULL,
    free timestamptz NOT NULL DEFAULT '-infinity',
    rest_until timestamptz NOT NULL DEFAULT '-infinity',
    rest_s integer NOT NULL DEFAULT 0,
    why text NOT NULL DEFAULT '',
    day smallint NOT NULL DEFAULT 0,
    requests integer NOT NULL DEFAULT 0,
    PRIMARY KEY (archive, kind)
);

-- How many snapshots of a service were dropped in the quarter that began on day `since`, of how many it had (U-8).
CREATE TABLE withdrawal (
    archive smallint PRIMARY KEY,
    since smallint NOT NULL,
    kept integer NOT NULL,
    dropped integer NOT NULL
);

-- Living URLs that are being saved at an archive (A-2); `state` in weboid/store/archives/saving.py.
CREATE TABLE saving (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    day smallint NOT NULL,
    state smallint NOT NULL,
    tries smallint NOT NULL DEFAULT 0,
    next timestamptz NOT NULL DEFAULT now(),
    job text,
    why text NOT NULL DEFAULT '',
    PRIMARY KEY (host_key, url_key, bucket)
);
CREATE INDEX saving_next ON saving (state, next);

-- Reverted repairs, as the operators of bots state them (B-6): `client` says that `reverter` has undone its revision of a
-- page. The link is frozen on that wiki for bots while a revert of it is open (0) or was kept (1); 2 = released. `reviewer`
-- is the administrator who decided, by name.
CREATE TABLE revert (
    revert bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    revision bigint NOT NULL,
    wiki integer NOT NULL REFERENCES wiki,
    page integer NOT NULL,
    bucket smallint NOT NULL,
    day smallint NOT NULL,
    state smallint NOT NULL DEFAULT 0,
    why text NOT NULL,
    reverter text NOT NULL,
    client text NOT NULL,
    reviewer text,
    subject text NOT NULL DEFAULT '',
    UNIQUE (host_key, url_key, bucket, wiki, revision)
);
CREATE INDEX revert_state ON revert (state, revert DESC) WHERE state < 2;
CREATE INDEX revert_subject ON revert (subject) WHERE subject <> '';

-- Everything that people did (H-4): actions in the program's words, no network address, no text of unbounded length.
CREATE TABLE audit (
    audit bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    moment timestamptz NOT NULL DEFAULT now(),
    action text NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    object text NOT NULL,
    detail text NOT NULL
);
CREATE INDEX audit_subject ON audit (subject, audit);
CREATE INDEX audit_moment ON audit (moment);

-- People whom an administrator has blocked.
CREATE TABLE blocked (
    subject text PRIMARY KEY,
    name text NOT NULL,
    day smallint NOT NULL,
    blocker text NOT NULL,
    reason text NOT NULL
);

-- Sessions that people ended before their time, as hashes of their ids, until they would have ended by themselves (H-4).
CREATE TABLE ended_session (
    session bytea PRIMARY KEY,
    until timestamptz NOT NULL
);
CREATE INDEX ended_session_until ON ended_session (until);

-- How much a range of addresses has spent (W-9): `free` is when all of it will have been earned again. The key is a
-- hash of the range, with a new key each day. Unlogged: a crash of the server loses some minutes of use.
CREATE UNLOGGED TABLE throttle (
    key bytea PRIMARY KEY,
    free timestamptz NOT NULL
);

-- The day's key of those hashes; deleted after its day, so that no hash can be traced back.
CREATE TABLE throttle_key (
    day smallint PRIMARY KEY,
    key bytea NOT NULL
);

-- The public data set (W-13): the parts of a farm's files, each in pieces that are complete gzip files, so that joined they
-- are one too. `kind`: 0 = statuses per host, 1 = per URL. Stored in the database, because the program that makes it and
-- the one that sends it may share nothing else (O-1).
CREATE TABLE dataset (
    day smallint NOT NULL,
    farm smallint NOT NULL REFERENCES farm,
    part smallint NOT NULL,
    lines integer NOT NULL,
    body bytea NOT NULL,
    kind smallint NOT NULL DEFAULT 0,
    piece integer NOT NULL DEFAULT 0,
    PRIMARY KEY (day, farm, kind, part, piece)
);
ALTER TABLE dataset ALTER COLUMN body SET STORAGE EXTERNAL;

-- The files of which all parts are there: only these are shown.
CREATE TABLE dataset_file (
    day smallint NOT NULL,
    farm smallint NOT NULL REFERENCES farm,
    kind smallint NOT NULL,
    lines bigint NOT NULL,
    size bigint NOT NULL,
    sha256 bytea NOT NULL,
    PRIMARY KEY (day, farm, kind)
);

-- The settings page of a wiki (core/wikitext/settings.py) as it was last read: the newest text that fits, NULL = there is
-- no page; `fault` = why the page as it is now is not used, '' = it is. `configured` = JSON with the parts of such a page
-- that the operator has configured, NULL = none.
CREATE TABLE wiki_settings (
    wiki integer PRIMARY KEY REFERENCES wiki,
    day smallint NOT NULL,
    text text,
    fault text NOT NULL DEFAULT '',
    configured text
);

-- The newest good backup (O-9): of which moment, how many bytes in which file, all NULL = there is none; `why` = what the
-- last try failed for, '' = it did not. One row, none before the first. Backups leave it out.
CREATE TABLE backup (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    day smallint,
    moment timestamptz,
    bytes bigint,
    place text,
    why text NOT NULL DEFAULT ''
);

-- The JSON page that says which wikis are watched ([feed] watched), by its name, as it was last read (`seen`): `text` = the
-- newest that is in force, NULL = none ever was; `fault` = why the page as it is now is not in force, '' = it is.
CREATE TABLE watch_list (
    source text PRIMARY KEY,
    seen timestamptz NOT NULL,
    text text,
    fault text NOT NULL DEFAULT ''
);

-- What crawlers without a database had done here within the last day, with the answers they got: what is repeated is
-- done once.
CREATE TABLE done_request (
    client text NOT NULL,
    request uuid NOT NULL,
    done timestamptz NOT NULL DEFAULT now(),
    answer bytea,
    PRIMARY KEY (client, request)
);

CREATE INDEX done_request_done ON done_request (done);

-- Second looks (C-14): URLs that would be called dead now, which crawlers of another place than `place` check, too.
-- `taken_by` = the place that does so, until a moment after `taken`; `outcome` NULL with `answered` = it cannot tell.
CREATE TABLE second_look (
    look uuid PRIMARY KEY,
    bucket smallint NOT NULL,
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    place text NOT NULL,
    asked timestamptz NOT NULL DEFAULT now(),
    ends timestamptz NOT NULL,
    taken timestamptz,
    taken_by text,
    answered timestamptz,
    outcome text
);

-- When a crawler of each place last asked for second looks to take.
CREATE TABLE vantage_place (
    place text PRIMARY KEY,
    seen timestamptz NOT NULL
);

-- The robot (R-5, R-7): what its tasks remember from run to run.

-- A task, by the name that its user gave or a hash of starts and orders. `run` counts its runs, `whole_run` is the newest
-- that came to its end, `day` that of the newest beginning; `ended` NULL = a run is under way, or was killed.
-- Of a task that an administrator ordered: `wanted` = the orders as they were given (robot/wanted.py), `state` of the run
-- that was `ordered` last (waiting, running, finished, stopped or failed; empty for ``weboid site``), `progress` as
-- site/tasks.py writes it.
CREATE TABLE robot_task (
    task integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    starts text[] NOT NULL,
    orders jsonb NOT NULL,
    run integer NOT NULL,
    whole_run integer NOT NULL DEFAULT 0,
    day smallint NOT NULL,
    begun timestamptz NOT NULL DEFAULT now(),
    ended timestamptz,
    statistics jsonb NOT NULL DEFAULT '{}',
    wanted jsonb,
    state text NOT NULL DEFAULT '',
    ordered timestamptz,
    is_to_stop boolean NOT NULL DEFAULT false,
    progress jsonb NOT NULL DEFAULT '{}'
);

-- A URL (or a fragment of a page) that a task has asked for: `run` = the newest that did, 0 = what it found is not kept
-- in full; the columns of a record as in `url`; `broken` by its last verdict (a doubt is none), and `was_broken` by that
-- of the whole runs before; `loaded` = the moment, for orders in minutes.
-- What still waits in a queue is not here: it follows from the links of the pages.
CREATE TABLE robot_entry (
    url_key bigint NOT NULL,
    task integer NOT NULL,
    run integer NOT NULL,
    status smallint NOT NULL,
    since smallint NOT NULL,
    asked smallint NOT NULL,
    strikes smallint NOT NULL,
    failing_since smallint,
    failing_until smallint,
    reason smallint NOT NULL,
    mime smallint,
    http smallint,
    broken boolean NOT NULL,
    was_broken boolean NOT NULL,
    size_kib integer,
    evidence integer,
    url text NOT NULL,
    target text,
    older bytea,
    state_since smallint,
    loaded timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (task, url_key)
) WITH (fillfactor = 80);

-- The document of an entry, for conditional requests; `followed` = robots may follow its links; `ids` = hashes of the
-- names within it that fragments can point to.
CREATE TABLE robot_page (
    url_key bigint NOT NULL,
    task integer NOT NULL,
    followed boolean NOT NULL,
    content_hash bytea NOT NULL,
    etag text NOT NULL,
    modified text NOT NULL,
    ids bytea NOT NULL,
    title text NOT NULL DEFAULT '',
    description text NOT NULL DEFAULT '',
    PRIMARY KEY (task, url_key)
);

-- Its links with their places, packed (store/site/entry.py): written only when the content has changed. `leads_to` = keys
-- of those URLs that are written in full.
CREATE TABLE robot_link (
    url_key bigint NOT NULL,
    task integer NOT NULL,
    links bytea NOT NULL,
    leads_to bigint[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (task, url_key)
);
CREATE INDEX robot_link_leads_to ON robot_link USING gin (leads_to);
ALTER TABLE robot_link ALTER COLUMN links SET STORAGE EXTERNAL;

-- Places of links in the last run of a task that was ordered, packed (store/site/ordered.py), `size` of them in a row:
-- those that are at fault by host, reason and state, all others without these.
CREATE TABLE robot_place (
    task integer NOT NULL,
    number integer NOT NULL,
    host text,
    reason text,
    state text,
    size integer NOT NULL,
    places bytea NOT NULL,
    PRIMARY KEY (task, number)
);
ALTER TABLE robot_place ALTER COLUMN places SET STORAGE EXTERNAL;

-- Texts of link cards (R-8): of URLs whose cards were opened, as a look found them (store/urls/card.py). `is_open` = the
-- look is under way; `digest` is of the URL in normal form.
CREATE TABLE link_card (
    digest bytea PRIMARY KEY,
    looked smallint NOT NULL,
    is_open boolean NOT NULL DEFAULT true,
    card bytea
);
CREATE INDEX link_card_looked ON link_card (looked);

-- How far the logs of verdict changes and of people's actions are settled, for readers on a hot standby: there the
-- sequences are ahead of the lines, and nothing shows who is writing. One row.
CREATE TABLE settled (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    change bigint NOT NULL DEFAULT 0,
    audit bigint NOT NULL DEFAULT 0
);
INSERT INTO settled DEFAULT VALUES;
