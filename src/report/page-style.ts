// How the page looks: on a screen by day and by night, and on paper.

export const pageStyle = `
:root { color-scheme: light dark; --ground: #ffffff; --card: #f5f7f9; --ink: #1c2733; --faint: #5b6b7a; --rule: #d5dce3;
  --good: #1c7a5f; --bad: #b3382c; --odd: #8a6200; --band: #a9c7ee; }
@media (prefers-color-scheme: dark) { :root { --ground: #12181f; --card: #1b242d; --ink: #e4eaf0; --faint: #9aa8b5;
  --rule: #33404c; --good: #55c3a0; --bad: #f08a7d; --odd: #e0b040; --band: #35527a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px; max-width: 1080px; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
header { border-left: 6px solid var(--mood); background: var(--card); padding: 16px 20px; border-radius: 4px; }
.good { --mood: var(--good); } .bad { --mood: var(--bad); } .odd { --mood: var(--odd); }
h1 { margin: 0; font-size: 26px; color: var(--mood); overflow-wrap: anywhere; }
h2 { margin: 36px 0 10px; font-size: 18px; }
header p { margin: 8px 0 0; } header ul { margin: 10px 0 0; padding-left: 20px; font-variant-numeric: tabular-nums; }
.fix { margin-top: 12px; padding-top: 10px; border-top: 1px solid var(--rule); }
.faint { color: var(--faint); }
figure { margin: 0 0 16px; } figure svg { width: 100%; height: auto; border-radius: 4px; display: block; }
figcaption { color: var(--faint); font-size: 13px; }
details { border: 1px solid var(--rule); border-radius: 4px; margin: 8px 0; }
summary { cursor: pointer; padding: 8px 12px; background: var(--card); }
summary b { margin-right: 8px; } details p { margin: 8px 12px; }
.standing { float: right; color: var(--mood); font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th, td { text-align: left; padding: 5px 10px; border-top: 1px solid var(--rule); vertical-align: top; }
thead th { border-top: 0; color: var(--faint); font-weight: 600; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.said { min-width: 9em; }
.result { color: var(--mood); font-weight: 600; white-space: nowrap; }
.strip .axis { stroke: var(--rule); } .strip .band { fill: var(--band); }
.strip .whisker { stroke: var(--mark); stroke-width: 2; } .strip .mark { fill: var(--mark); }
.strip.supports { --mark: var(--good); } .strip.contradicts { --mark: var(--bad); } .strip.untestable { --mark: var(--odd); }
.key { display: inline-block; width: 22px; height: 10px; background: var(--band); border-radius: 2px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 0; } dt { color: var(--faint); } dd { margin: 0; }
@media print { body { padding: 0; font-size: 12px; } details { break-inside: avoid; } }
`;
