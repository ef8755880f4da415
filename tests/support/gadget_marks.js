() => [ ...document.querySelectorAll( '#mw-content-text .mw-parser-output a[href]' ) ]
.map( ( link ) => {
	const next = link.nextSibling;
	const isPlace = next instanceof HTMLElement && next.matches( '.weboid-place' );
	const mark = isPlace ? next.querySelector( ':scope > .weboid-mark:only-child' ) : null;
	return [ link.getAttribute( 'href' ), mark && /weboid-mark-([a-z]+)/.exec( mark.className )[ 1 ] ];
} )
