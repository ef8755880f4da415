// SPDX-License-Identifier: MIT
/**
 * What stands on the card of a link: what is known of it, what can be read instead, what people
 * can do.
 */
'use strict';

const { addresses, useLater } = require( 'ext.gadget.weboid-page' );
const { elements, repairing, words } = require( 'ext.gadget.weboid-marks' );
const editing = require( './editing.js' );
const history = require( './history.js' );

const { button, create: element, isolated, link: linkTo, urlLink, urlText, webAddress, withParts } = elements;

const TITLE_ID = 'weboid-card-title';
const MOST_COPIES = 5;
const SVG = 'http://www.w3.org/2000/svg';
const CHART_HEIGHT = 40;
/** Higher is better, so that nothing is shown by colour alone. */
const BAR_HEIGHTS = { working: 36, doubtful: 22, failing: 10 };

/**
 * The parts of the card, those that have nothing to say left out.
 *
 * @param {HTMLButtonElement} mark
 * @param {Weboid.Link} link
 * @param {Object} context
 * @param {string|null} context.answerDay
 * @param {Object} actions
 * @param {function(): void} actions.onClose
 * @param {function(): void} actions.onSettings
 * @param {function(): void} actions.onChange called when the card has another size
 * @param {function(): void} actions.onRepair
 * @return {Node[]}
 */
function create( mark, link, { answerDay }, { onClose, onSettings, onChange, onRepair } ) {
	const parts = [
		head( link, onClose ),
		address( link ),
		link.summary ? element( 'p', 'weboid-summary-words', isolated( link.summary ) ) : null,
		link.explanation ? element( 'p', 'weboid-subtle', isolated( link.explanation ) ) : null,
		link.suspicious ? element( 'p', 'weboid-warning', mw.msg( 'weboid-gadget-suspicious' ) ) : null,
		reports( link ),
		copies( link ),
		link.repaired ? element( 'p', '', mw.msg( 'weboid-gadget-repaired' ) ) : null,
		meant( link ),
		suggestion( link ),
		destination( link ),
		chart( link, answerDay ),
		checks( link ),
		editors( mark, link, onRepair ),
		about( link, onChange ),
		actions( link ),
		foot( onSettings )
	];
	return /** @type {Node[]} */ ( parts.filter( ( part ) => part !== null ) );
}

/**
 * @param {Weboid.Link} link
 * @param {function(): void} onClose
 * @return {HTMLElement}
 */
function head( link, onClose ) {
	const title = element( 'h2', 'weboid-title', words.verdict( link ) );
	title.id = TITLE_ID;
	const close = button( 'weboid-close', '', onClose );
	close.setAttribute( 'aria-label', mw.msg( 'weboid-gadget-close' ) );
	const icon = element( 'span', `weboid-icon weboid-icon-${ link.verdict }` );
	return element( 'div', 'weboid-head', icon, title, close );
}

/**
 * @param {Weboid.Link} link
 * @return {HTMLElement|null}
 */
function address( link ) {
	const url = link.normal || ( link.given || [] )[ 0 ];
	if ( !url ) {
		return null;
	}
	const line = element( 'p', 'weboid-address', urlText( url ) );
	if ( link.host_unicode ) {
		line.append( ' (', isolated( link.host_unicode ), ')' );
	}
	return line;
}

/**
 * What people have reported.
 *
 * @param {Weboid.Link} link
 * @return {HTMLElement|null}
 */
function reports( link ) {
	if ( link.reported ) {
		return element( 'p', '', mw.msg( 'weboid-gadget-reported', words.day( link.reported ) ) );
	}
	return link.assumed ?
		element( 'p', '', mw.msg( 'weboid-gadget-assumed', words.day( link.assumed ) ) ) :
		null;
}

/**
 * The archived copies, the best one as a button; or why there is none.
 *
 * @param {Weboid.Link} link
 * @return {HTMLElement|null}
 */
function copies( link ) {
	const usable = ( link.snapshots || [] )
		.filter( ( copy ) => webAddress( copy.snapshot ) !== null )
		.slice( 0, MOST_COPIES );
	const summary = link.copy_summary ?
		element( 'p', 'weboid-subtle', isolated( link.copy_summary ) ) :
		null;
	if ( !usable.length ) {
		return summary;
	}
	const [ best, ...others ] = usable;
	const part = element(
		'div', 'weboid-copies',
		linkTo(
			webAddress( best.snapshot ), 'weboid-button weboid-button-primary',
			mw.msg( 'weboid-gadget-copy-read' )
		),
		summary,
		remarks( best )
	);
	if ( others.length ) {
		part.append(
			element( 'p', 'weboid-label', mw.msg( 'weboid-gadget-copy-others' ) ),
			element( 'ul', 'weboid-list', ...others.map( copyEntry ) )
		);
	}
	return part;
}

/**
 * @param {Weboid.Snapshot} copy
 * @return {HTMLElement}
 */
function copyEntry( copy ) {
	const day = copy.taken ? words.day( String( copy.taken ).slice( 0, 10 ) ) : null;
	const title = isolated( copy.title );
	const label = day === null ?
		[ title ] :
		withParts(
			mw.msg( 'weboid-gadget-copy-entry', '$1', '$2' ), title, element( 'bdi', '', day )
		);
	return element(
		'li', '', linkTo( webAddress( copy.snapshot ), '', ...label ), remarks( copy )
	);
}

/**
 * What is to be known of a copy before one reads it.
 *
 * @param {Weboid.Snapshot} copy
 * @return {HTMLElement|null}
 */
function remarks( copy ) {
	const texts = [];
	if ( copy.origin === 'suggested' ) {
		texts.push( mw.msg( 'weboid-gadget-copy-suggested' ) );
	}
	if ( copy.note === 'redirects' ) {
		texts.push( mw.msg( 'weboid-gadget-copy-redirects' ) );
	} else if ( copy.note === 'similar' ) {
		texts.push( mw.msg( 'weboid-gadget-copy-similar' ) );
	}
	return texts.length ? element( 'p', 'weboid-subtle', texts.join( ' ' ) ) : null;
}

/**
 * @param {Weboid.Link} link
 * @return {HTMLElement|null}
 */
function meant( link ) {
	return link.probably_meant ? element(
		'p', '', ...withParts( mw.msg( 'weboid-gadget-meant', '$1' ), urlLink( link.probably_meant ) )
	) : null;
}

/**
 * @param {Weboid.Link} link
 * @return {HTMLElement|null}
 */
function suggestion( link ) {
	return link.replacement ? element(
		'div', 'weboid-suggestion',
		element( 'p', '', ...withParts(
			mw.msg( 'weboid-gadget-replacement', '$1' ), urlLink( link.replacement )
		) ),
		element( 'p', 'weboid-subtle', mw.msg( 'weboid-gadget-replacement-reserve' ) )
	) : null;
}

/**
 * What a click on the link does, if that is not what one expects: a file, another site.
 *
 * @param {Weboid.Link} link
 * @return {HTMLElement|null}
 */
function destination( link ) {
	const lines = [];
	if ( link.mime ) {
		lines.push( element( 'p', '', ...withParts(
			mw.msg( 'weboid-gadget-opens-file', '$1' ), isolated( words.file( link ) )
		) ) );
	}
	if ( link.target ) {
		const text = hostOf( link.target ) === hostOf( link.normal ) ?
			mw.msg( 'weboid-gadget-target', '$1' ) :
			mw.msg( 'weboid-gadget-target-elsewhere', '$1' );
		lines.push( element( 'p', '', ...withParts( text, urlLink( link.target ) ) ) );
	}
	return lines.length ? element( 'div', '', ...lines ) : null;
}

/**
 * @param {string|null} url
 * @return {string|null} its host without `www.`
 */
function hostOf( url ) {
	const known = webAddress( url );
	return known && new URL( known ).hostname.replace( /^www\./, '' );
}

/**
 * The history as a picture, and in words for those who do not see it.
 *
 * @param {Weboid.Link} link
 * @param {string|null} answerDay
 * @return {HTMLElement|null}
 */
function chart( link, answerDay ) {
	const entries = link.history || [];
	const bars = history.bars( entries, answerDay );
	if ( !bars.length || answerDay === null ) {
		return null;
	}
	const picture = shape( 'svg', {
		viewBox: `0 0 ${ history.WIDTH } ${ CHART_HEIGHT }`,
		preserveAspectRatio: 'none',
		role: 'img',
		'aria-label': entries.slice().reverse().map( entryWords ).join( '; ' )
	} );
	picture.append( shape( 'path', { class: 'weboid-axis', d: `M0 ${ CHART_HEIGHT - 1 }H${ history.WIDTH }` } ) );
	bars.forEach( ( bar ) => {
		const height = BAR_HEIGHTS[ bar.outcome ];
		picture.append( shape( 'rect', {
			class: `weboid-bar-${ bar.outcome }`,
			x: bar.x,
			y: CHART_HEIGHT - 1 - height,
			width: bar.width,
			height
		} ) );
	} );
	return element(
		'figure', 'weboid-history',
		picture,
		element(
			'figcaption', '',
			element( 'span', '', words.day( entries[ entries.length - 1 ].first ) ),
			element( 'span', '', words.day( answerDay ) )
		)
	);
}

/**
 * @param {string} tag
 * @param {Object<string,string|number>} attributes
 * @return {SVGElement}
 */
function shape( tag, attributes ) {
	const made = document.createElementNS( SVG, tag );
	Object.keys( attributes )
		.forEach( ( name ) => made.setAttribute( name, String( attributes[ name ] ) ) );
	return /** @type {SVGElement} */ ( made );
}

/**
 * @param {Weboid.HistoryEntry} entry
 * @return {string}
 */
function entryWords( entry ) {
	return mw.msg(
		'weboid-gadget-history-entry',
		words.day( entry.first ), words.day( entry.last ), outcomeWord( entry.outcome )
	);
}

/**
 * @param {Weboid.Outcome} outcome
 * @return {string}
 */
function outcomeWord( outcome ) {
	switch ( outcome ) {
		case 'working':
			return mw.msg( 'weboid-gadget-outcome-working' );
		case 'doubtful':
			return mw.msg( 'weboid-gadget-outcome-doubtful' );
		default:
			return mw.msg( 'weboid-gadget-outcome-failing' );
	}
}

/**
 * @param {Weboid.Link} link
 * @return {HTMLElement|null}
 */
function checks( link ) {
	const texts = [];
	if ( link.checked ) {
		texts.push( mw.msg( 'weboid-gadget-checked', words.day( link.checked ) ) );
	}
	if ( link.next_check ) {
		texts.push( mw.msg( 'weboid-gadget-next-check', words.day( link.next_check ) ) );
	}
	return texts.length ? element( 'p', 'weboid-subtle', texts.join( ' ' ) ) : null;
}

/**
 * What editors can do: repair the link, copy the wiki's own templates, and go to where the link stands in the text.
 *
 * @param {HTMLButtonElement} mark
 * @param {Weboid.Link} link
 * @param {function(): void} onRepair
 * @return {HTMLElement|null}
 */
function editors( mark, link, onRepair ) {
	if ( !editing.isEditor() ) {
		return null;
	}
	const status = element( 'p', 'weboid-status' );
	status.setAttribute( 'role', 'status' );
	const repair = link.verdict === 'dead' && repairing.isRepairable() ?
		button( 'weboid-button', mw.msg( 'weboid-gadget-repair-link' ), onRepair ) :
		null;
	const buttons = editing.copies( link ).map(
		( { kind, text } ) => button( 'weboid-button', copyLabel( kind ), () => {
			status.textContent = '';
			editing.copyText( text ).then( ( isCopied ) => {
				status.textContent = isCopied ?
					mw.msg( 'weboid-gadget-copied' ) :
					mw.msg( 'weboid-gadget-copy-failed' );
			} );
		} )
	);
	const editAddress = editing.editAddress( mark );
	/** @type {HTMLElement|null} */
	let edit = null;
	if ( editAddress ) {
		edit = element( 'a', 'weboid-button', mw.msg( 'weboid-gadget-edit' ) );
		edit.setAttribute( 'href', editAddress );
		edit.addEventListener( 'click', () => editing.rememberSelection( link ) );
	}
	return buttons.length || edit || repair ?
		element(
			'div', 'weboid-editors', element( 'div', 'weboid-buttons', repair, ...buttons, edit ), status
		) :
		null;
}

/**
 * @param {string} kind
 * @return {string}
 */
function copyLabel( kind ) {
	switch ( kind ) {
		case 'template':
			return mw.msg( 'weboid-gadget-copy-template' );
		case 'parameters':
			return mw.msg( 'weboid-gadget-copy-parameters' );
		default:
			return mw.msg( 'weboid-gadget-copy-dead' );
	}
}

/**
 * The button that opens the second part of the card; nothing is asked before.
 *
 * @param {Weboid.Link} link
 * @param {function(): void} onChange
 * @return {HTMLElement|null}
 */
function about( link, onChange ) {
	if ( !link.normal || link.class !== 'watched' ) {
		return null;
	}
	const open = button( 'weboid-button weboid-about-button', mw.msg( 'weboid-gadget-card-open' ), () => {
		open.disabled = true;
		useLater( 'about' ).then( ( part ) => {
			const made = part.create( link, () => {
				onChange();
				// Of a card that is higher than its window, what was opened is what is to be seen.
				made.offsetParent.scrollTop = made.offsetTop;
			} );
			open.replaceWith( made );
			made.children[ 0 ].focus( { preventScroll: true } );
		} ).catch( ( error ) => {
			open.disabled = false;
			mw.log.error( error );
		} );
	} );
	return open;
}

/**
 * What people can do at the service, where they sign in for it (H-2), and where else the link is
 * used.
 *
 * @param {Weboid.Link} link
 * @return {HTMLElement}
 */
function actions( link ) {
	const found = [];
	if ( link.normal ) {
		if ( link.verdict === 'dead' ) {
			found.push(
				[ addresses.report( link.normal ), mw.msg( 'weboid-gadget-report' ) ],
				[ addresses.replacement( link.normal ), mw.msg( 'weboid-gadget-suggest' ) ]
			);
		} else if ( link.class === 'watched' ) {
			found.push( [ addresses.report( link.normal ), mw.msg( 'weboid-gadget-check' ) ] );
		}
		found.push( [ addresses.aboutLink( link.normal ), mw.msg( 'weboid-gadget-about' ) ] );
	}
	found.push( [ addresses.listOfPage(), mw.msg( 'weboid-gadget-list' ) ] );
	return element( 'ul', 'weboid-list weboid-actions', ...found.map(
		( [ to, text ] ) => element( 'li', '', linkTo( to, '', text ) )
	) );
}

/**
 * @param {function(): void} onSettings
 * @return {HTMLElement}
 */
function foot( onSettings ) {
	return element(
		'div', 'weboid-foot', element( 'span', 'weboid-subtle', mw.msg( 'weboid-gadget-source' ) ),
		button( 'weboid-settings-button', mw.msg( 'weboid-gadget-settings' ), onSettings )
	);
}

module.exports = { TITLE_ID, create };
