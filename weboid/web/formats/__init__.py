"""The formats of answers: HTML, JSON, JavaScript, XML, Atom, pictures, files."""
