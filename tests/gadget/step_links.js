( [ hrefs, milliseconds ] ) => {
	const index = require( './core.js' ).createIndex( [] );
	hrefs.forEach( ( href ) => {
		const element = document.createElement( 'a' );
		element.setAttribute( 'href', href );
		index.add( element );
	} );
	let steps = 1;
	while ( !index.step( performance.now() + milliseconds ) ) {
		steps++;
	}
	return [ index.size, steps ];
}
