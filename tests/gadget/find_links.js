( [ anchors, links, ownHosts ] ) => {
	const index = require( './core.js' ).createIndex( ownHosts );
	const elements = anchors.map( ( attributes ) => {
		const element = document.createElement( 'a' );
		Object.keys( attributes ).forEach( ( name ) => element.setAttribute( name, attributes[ name ] ) );
		return element;
	} );
	elements.forEach( index.add );
	const found = index.find( links );
	return elements.map( ( element ) => links.indexOf( found.get( element ) ) );
}
