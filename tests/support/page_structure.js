(touch) => {
	const faults = [];
	const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")];
	const levels = headings.map(heading => Number(heading.tagName[1]));
	if (levels.filter(level => level === 1).length !== 1) faults.push(`h1: ${levels}`);
	levels.forEach((level, at) => {
		if (level > (levels[at - 1] ?? 0) + 1) faults.push(`heading: ${headings[at].textContent.trim()}`);
	});
	if (!document.title.trim()) faults.push("no title");
	for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
		if (![...field.labels].some(label => label.textContent.trim())) faults.push(`label: ${field.outerHTML}`);
	}
	for (const target of document.querySelectorAll("input:not([type=hidden]), select, summary, .cdx-button")) {
		const height = (target.closest(".choice") ?? target).getBoundingClientRect().height;
		if (height && height < touch) faults.push(`${height} px high: ${target.outerHTML.slice(0, 160)}`);
	}
	return faults;
}
