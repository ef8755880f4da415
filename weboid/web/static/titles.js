(() => {
	'use strict';
	const title = document.getElementById( 'title' );
	const wiki = document.getElementById( 'dbname' );
	const list = document.getElementById( 'titles' );
	const address = title && title.dataset.titles;
	let timer = 0;
	let last = '';
	let waiting = null;
	document.addEventListener( 'click', ( event ) => {
		if ( event.target.matches( 'input[readonly]' ) ) {
			event.target.select();
		}
	} );
	if ( !address || !wiki || !list ) {
		return;
	}
	function show( offered ) {
		list.replaceChildren( ...offered.map( ( text ) => {
			const option = document.createElement( 'option' );
			option.value = text;
			return option;
		} ) );
	}
	async function ask() {
		const text = title.value.trim();
		const query = new URLSearchParams( { dbname: wiki.value.trim(), title: text } ).toString();
		if ( query === last || text.length < 2 || text.length > 255 || text.includes( '://' ) || !wiki.value.trim() ) {
			return;
		}
		last = query;
		if ( waiting ) {
			waiting.abort();
		}
		waiting = new AbortController();
		try {
			const answer = await fetch( address + '?' + query, { signal: waiting.signal } );
			show( answer.ok ? ( await answer.json() ).titles : [] );
		} catch ( error ) {
			// The form works without.
		}
	}
	title.addEventListener( 'input', () => {
		clearTimeout( timer );
		timer = setTimeout( ask, 250 );
	} );
})();
