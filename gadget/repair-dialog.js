// SPDX-License-Identifier: MIT
/**
 * The dialog of a repair: each link with what would change and what may be chosen instead, the summary, the buttons. It
 * keeps the focus until it is closed, and what it shows is text of strangers (elements.js).
 */
'use strict';

const {
	elements: { bounded, button, create, isolated, link: linkTo, urlText, webAddress, withParts }, words
} = require( 'ext.gadget.weboid-marks' );
const { closeDialog, showDialog } = require( 'ext.gadget.weboid-card' );
const { diff } = require( './repair-diff.js' );

const MOST_LEFT = 100;
const MOST_SUMMARY = 500;

/** @type {number} of groups of choices that were made */
let made = 0;

/**
 * @param {string} type
 * @param {string} name
 * @param {string} value
 * @param {boolean} isChecked
 * @param {...(Node|string)} label
 * @return {HTMLElement}
 */
function choice( type, name, value, isChecked, ...label ) {
	const input = /** @type {HTMLInputElement} */ ( create( 'input', '' ) );
	Object.assign( input, { type, name, value, checked: isChecked } );
	return create( 'label', 'weboid-choice', input, create( 'span', '', ...label ) );
}

/**
 * @param {Weboid.RepairCopy} copy
 * @return {Array<Node|string>} its archive and its day
 */
function copyWords( copy ) {
	const title = isolated( copy.archive || copy.address );
	return copy.taken ? withParts(
		mw.msg( 'weboid-gadget-copy-entry', '$1', '$2' ), title, create( 'bdi', '', words.day( copy.taken.slice( 0, 10 ) ) )
	) : [ title ];
}

/**
 * What may be chosen for a link: what was proposed is the first choice, or the copy that it has.
 *
 * @param {Weboid.RepairChange} change
 * @param {function(string): void} onChoose
 * @return {HTMLElement}
 */
function choices( { copy, copies, verdict }, onChoose ) {
	const name = `weboid-repair-${ ++made }`;
	const proposed = copies.some( ( { address } ) => copy && address === copy.address ) && copy ? copy.address : '';
	const list = create( 'div', 'weboid-choices' );
	const add = (
		/** @type {string} */ value, /** @type {Array<Node|string>} */ label, /** @type {Node|null} */ more = null
	) => {
		list.append( create( 'div', '', choice( 'radio', name, value, value === proposed, ...label ), more ) );
	};
	if ( !proposed ) {
		add( '', [ mw.msg( 'weboid-gadget-repair-proposed' ) ] );
	}
	copies.forEach( ( each ) => {
		const look = linkTo( webAddress( each.address ), 'weboid-look', mw.msg( 'weboid-gadget-repair-look' ) );
		add( each.address, copyWords( each ), look );
	} );
	if ( verdict === 'dead' ) {
		add( 'tag', [ mw.msg( 'weboid-gadget-repair-tag' ) ] );
	}
	add( 'leave', [ mw.msg( 'weboid-gadget-repair-leave' ) ] );
	list.addEventListener( 'change', ( event ) => {
		const { value } = /** @type {HTMLInputElement} */ ( event.target );
		onChoose( value === proposed ? '' : value );
	} );
	return list;
}

/**
 * @param {Weboid.RepairChange} change
 * @param {function(string): void} onChoose
 * @return {{element: HTMLElement, update: function(Weboid.RepairChange[]): void}}
 */
function createRow( change, onChoose ) {
	const what = create( 'div', '' );
	const element = create(
		'fieldset', 'weboid-group weboid-repair-link', create( 'legend', '', urlText( change.url ) ), what,
		choices( change, onChoose )
	);
	const update = ( /** @type {Weboid.RepairChange[]} */ changes ) => {
		what.replaceChildren();
		changes.forEach( ( { words: said, before, after }, place ) => {
			if ( place === 0 || said !== changes[ place - 1 ].words ) {
				what.append( create( 'p', '', isolated( said || '' ) ) );
			}
			what.append( before === null || after === null ?
				create( 'p', 'weboid-subtle', mw.msg( 'weboid-gadget-repair-together' ) ) :
				diff( before, after ) );
		} );
		if ( !changes.length ) {
			what.append( create( 'p', 'weboid-subtle', mw.msg( 'weboid-gadget-repair-untouched' ) ) );
		}
	};
	return { element, update };
}

/**
 * @param {Weboid.RepairLeft[]} left
 * @param {boolean} isOpen
 * @return {HTMLElement}
 */
function leftAlone( left, isOpen ) {
	const element = /** @type {HTMLDetailsElement} */ ( create(
		'details', 'weboid-left',
		create( 'summary', '', mw.msg( 'weboid-gadget-repair-left', words.number( left.length ) ) ),
		create( 'ul', 'weboid-list', ...left.slice( 0, MOST_LEFT ).map( ( { url, words: said } ) => create(
			'li', '', urlText( url ), ' – ', isolated( said || '' )
		) ) )
	) );
	element.open = isOpen;
	return element;
}

/**
 * @param {boolean} canSave
 * @return {{summary: HTMLInputElement, minor: HTMLElement, watched: HTMLElement, field: HTMLElement}}
 */
function createFields( canSave ) {
	const summary = /** @type {HTMLInputElement} */ ( create( 'input', 'weboid-line' ) );
	summary.maxLength = MOST_SUMMARY;
	summary.dir = 'auto';
	const option = ( /** @type {string} */ name ) => Boolean( Number( mw.user.options.get( name ) ) );
	const minor = choice( 'checkbox', 'minor', '1', option( 'minordefault' ), mw.msg( 'weboid-gadget-repair-minor' ) );
	const watched = choice( 'checkbox', 'watch', '1', option( 'watchdefault' ), mw.msg( 'weboid-gadget-repair-watch' ) );
	const field = create(
		'div', 'weboid-group',
		create( 'label', 'weboid-label', mw.msg( 'weboid-gadget-repair-summary' ), summary ),
		...( canSave ? [ minor, mw.config.get( 'wgUserName' ) === null ? null : watched ] : [] )
	);
	return { summary, minor, watched, field };
}

/**
 * @param {HTMLElement} label
 * @return {boolean} whether the box in it is ticked
 */
function isTicked( label ) {
	return label.isConnected && /** @type {HTMLInputElement} */ ( label.firstChild ).checked;
}

/**
 * Opens the dialog, which waits.
 *
 * @param {Object} options
 * @param {boolean} options.canSave whether it may save the page itself
 * @param {boolean} options.isField whether the text goes into the editor that is open
 * @param {function(string, string): void} options.onChoose called with a URL and what was chosen
 * @param {function(string): void} options.onApply called with the summary
 * @param {function(Weboid.SaveForm): void} options.onSave
 * @return {Weboid.RepairDialog}
 */
function createDialog( { canSave, isField, onChoose, onApply, onSave } ) {
	const status = create( 'p', 'weboid-status' );
	status.setAttribute( 'role', 'status' );
	const error = create( 'p', 'weboid-error' );
	error.setAttribute( 'role', 'alert' );
	/** @type {Map<string,{element: HTMLElement, update: function(Weboid.RepairChange[]): void}>} */
	const rows = new Map();
	const list = create( 'div', '' );
	const rest = create( 'div', '' );
	const { summary, minor, watched, field } = createFields( canSave );
	field.hidden = true;
	let hasChanges = false;
	let isTyped = false;
	summary.addEventListener( 'input', () => {
		isTyped = true;
	} );

	const apply = button(
		`weboid-button${ canSave ? '' : ' weboid-button-primary' }`,
		isField ? mw.msg( 'weboid-gadget-repair-take' ) : mw.msg( 'weboid-gadget-repair-editor' ),
		() => onApply( summary.value )
	);
	const save = button( 'weboid-button weboid-button-primary', mw.msg( 'weboid-gadget-repair-save' ), () => onSave( {
		summary: summary.value, isMinor: isTicked( minor ), isWatched: isTicked( watched )
	} ) );
	const cancel = button( 'weboid-button', mw.msg( 'weboid-gadget-settings-cancel' ), closeDialog );
	const dialog = showDialog(
		'weboid-repair', mw.msg( 'weboid-gadget-repair-title' ), status, list, rest, field, error,
		create( 'div', 'weboid-buttons', cancel, apply, canSave ? save : null )
	);
	const block = ( /** @type {boolean} */ isBusy ) => {
		apply.disabled = save.disabled = isBusy || !hasChanges;
		dialog.setAttribute( 'aria-busy', String( isBusy ) );
	};

	return {
		offer: ( changes ) => changes.forEach( ( change ) => {
			if ( !rows.has( change.url ) ) {
				const row = createRow( change, ( chosen ) => onChoose( change.url, chosen ) );
				rows.set( change.url, row );
				list.append( row.element );
			}
		} ),
		show: ( answer, left ) => {
			hasChanges = answer.changes.length > 0;
			rows.forEach( ( row, url ) => row.update( answer.changes.filter( ( change ) => change.url === url ) ) );
			rest.replaceChildren( ...( left.length ? [ leftAlone( left, !rows.size ) ] : [] ) );
			field.hidden = !rows.size;
			status.textContent = rows.size ? '' : mw.msg( 'weboid-gadget-repair-none' );
			if ( !isTyped ) {
				summary.value = bounded( answer.summary, MOST_SUMMARY );
			}
		},
		wait: () => {
			error.textContent = '';
			status.textContent = mw.msg( 'weboid-gadget-repair-wait' );
			block( true );
		},
		ready: () => {
			if ( rows.size ) {
				status.textContent = '';
			}
			block( false );
		},
		fail: ( text ) => {
			status.textContent = '';
			error.textContent = mw.msg( 'weboid-gadget-repair-failed', bounded( text ) );
			block( false );
		},
		say: ( text ) => {
			error.textContent = text;
			error.scrollIntoView( { block: 'nearest' } );
		},
		close: () => dialog.close()
	};
}

module.exports = { createDialog };
