// Code that scrolls is reached by the keyboard, and titles in the menu say which level they have.
for (const code of document.querySelectorAll("pre")) code.tabIndex = 0
for (const title of document.querySelectorAll(".caption[role=heading]")) title.ariaLevel = "2"
