// Code and tables that scroll are reached by the keyboard, and titles in the menu say which level
// they have.
for (const wide of document.querySelectorAll("pre, .table-wrapper")) wide.tabIndex = 0
for (const title of document.querySelectorAll(".caption[role=heading]")) title.ariaLevel = "2"
