// SPDX-License-Identifier: MIT
/**
 * What the gadget's modules hand each other, as types for JSDoc comments: `{Weboid.Link}`.
 *
 * It has no name like weboid.d.ts, which TypeScript would take for the declaration of weboid.js, and
 * then not check that. Keys of answers are explained in docs/api.md; what the gadget does not read
 * is left out here. Days are ISO dates in UTC, such as `2026-05-03`.
 */
declare namespace Weboid {
	type Verdict = 'working' | 'doubtful' | 'dead' | 'unknown' | 'invalid' | 'spam';
	type Fetch = typeof fetch;
	type Outcome = 'working' | 'doubtful' | 'failing';

	/** config.json as it is built for a wiki. */
	interface Config {
		service: string;
		farm: string;
		/** Those that have messages. */
		languages: string[];
		/** Another one for other messages. */
		edition: string;
		/** The messages themselves by language, in the user script alone. */
		texts?: Record<string, Record<string, string>>;
	}

	/** What is known of a page's links, from all parts of the answer; empty if nothing is. */
	interface KnownLinks {
		page: PageAnswer | null;
		links: Link[];
		/** The day of the answer. */
		day: string;
	}

	interface PageAnswer {
		/** Which of the page's links these are; null if they are all. */
		part: { from: number; to: number; of: number } | null;
		counts: Record<Verdict, number>;
		/** How many of the dead and of the doubtful ones have a copy on the page; not from an older service. */
		repaired?: { dead: number; doubtful: number };
		links: Link[];
	}

	interface Link {
		normal: string | null;
		/** To be shown beside `normal`, never instead of it. */
		host_unicode: string | null;
		/** The forms in which the wiki has the URL: one or more. */
		given: string[];
		interwiki: { prefix: string; title: string } | null;
		class: 'watched' | 'ignored' | 'example' | 'own-farm' | 'invalid';
		verdict: Verdict;
		since: string | null;
		checked: string | null;
		next_check: string | null;
		/** Text that a stranger's server gave, of any scheme. */
		target: string | null;
		mime: string | null;
		size_kib: number | null;
		suspicious: boolean;
		/** Not from an older service. */
		hints?: { kind: string }[];
		reported: string | null;
		assumed: string | null;
		replacement: string | null;
		probably_meant?: string | null;
		/** Whether the page already offers a copy of it. */
		repaired?: boolean;
		snapshots: Snapshot[];
		/** At most five, newest first. */
		history: HistoryEntry[];
		/** Texts in the language that was asked for. */
		summary: string;
		explanation: string | null;
		copy_summary: string | null;
		wikitext: Wikitext | null;
	}

	interface Snapshot {
		/** The name of the archive. */
		title: string;
		/** The address for readers. */
		snapshot: string;
		/** Such as `2016-05-03T12:00:00Z`. */
		taken: string | null;
		origin: 'suggested' | 'cited' | 'chosen';
		note: 'redirects' | 'after' | 'before' | 'similar' | null;
	}

	interface HistoryEntry {
		outcome: Outcome;
		/** Both days included. */
		first: string;
		last: string;
	}

	/** Wikitext to be copied, by the wiki's own templates; null for what the wiki has none for. */
	interface Wikitext {
		template: string | null;
		parameters: string | null;
		dead: string | null;
	}

	/** A bar of the picture of a history: `x` and `width` out of the width of the whole. */
	interface Bar {
		x: number;
		width: number;
		outcome: Outcome;
	}

	interface RepairCopy {
		address: string;
		/** The name of the archive. */
		archive: string | null;
		taken: string | null;
	}

	interface RepairChange {
		url: string;
		words: string | null;
		/** The piece of the text that changes; null if a change before has it. */
		before: string | null;
		after: string | null;
		verdict: Verdict | null;
		copy: RepairCopy | null;
		/** Those that may be chosen instead. */
		copies: RepairCopy[];
	}

	interface RepairLeft {
		url: string;
		words: string | null;
	}

	interface RepairAnswer {
		wikitext: string;
		summary: string;
		changes: RepairChange[];
		left: RepairLeft[];
	}

	/** The revision on which a repair is based, and since when. */
	interface BaseRevision {
		revision: number;
		/** Moments such as `2026-05-03T12:00:00Z`: when it was saved, and when the repair began. */
		saved: string;
		started: string;
	}

	interface SaveForm {
		summary: string;
		isMinor: boolean;
		isWatched: boolean;
	}

	/** Where the text that is repaired comes from and goes to. */
	interface RepairSource {
		/** Whether the page may be saved without an editor. */
		canSave: boolean;
		/** Whether the text goes into the editor that is open. */
		isField: boolean;
		/** null: the service reads the revision. */
		read: () => Promise<string | null>;
		apply: ( text: string, summary: string, base: BaseRevision ) => Promise<void> | void;
	}

	interface RepairDialog {
		/** Adds what may be chosen for links that it has not yet. */
		offer( changes: RepairChange[] ): void;
		show( answer: RepairAnswer, left: RepairLeft[] ): void;
		wait(): void;
		ready(): void;
		fail( text: string ): void;
		say( text: string ): void;
		close(): void;
	}

	interface Index {
		/** Notes an element; false if it leads nowhere away from the wiki. */
		add( element: HTMLAnchorElement ): boolean;
		/**
		 * Computes normal forms until `performance.now()` has reached the deadline, at least one;
		 * true when none is left.
		 */
		step( deadline: number ): boolean;
		/** The elements that stand for one of the links. Computes what `step` has left. */
		find( links: Link[] ): Map<HTMLAnchorElement, Link>;
		/** How many different URLs were noted. */
		readonly size: number;
	}

	/** What this reader wants to see. */
	interface Preferences {
		/** Marks of dead, and of doubtful links. */
		dead: boolean;
		doubtful: boolean;
		/** Marks, quiet ones, of such links with a copy on the page. */
		repaired: boolean;
		/** Type and size of files behind links. */
		files: boolean;
		/** A line at the references that sums up. */
		summary: boolean;
		namespaces: 'content' | 'all';
		/** Which links have a card. */
		cards: 'findings' | 'all';
		/** Repairs are saved at once, without the editor. */
		direct: boolean;
		/** On wikis that demand consent: the service may be asked about every page. */
		always: boolean;
	}
}
