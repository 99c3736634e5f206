// report: a record as text. Pure.

export { storyLineText } from './report/story-text.ts';
export { liveLine, liveLines, type LiveState } from './report/live.ts';
export { type JunitCase, type JunitSuite, junitText } from './report/junit.ts';
export { failureWords } from './report/failure-words.ts';
export { loadJunit } from './report/load-junit.ts';
export { type LoadFigures, loadText, type LoadTextOptions } from './report/load-text.ts';
export { type Paint, plain } from './report/paint.ts';
export { type Cell, type Column, table, wrap } from './report/table.ts';
export { type ChartInput, inFlightChart } from './report/chart.ts';
export { resultJson, resultSchema } from './report/json.ts';
export { ledgersOf, type ObjectiveOutcome, type Outcome } from './report/outcome.ts';
export { figureText, type IntervalFigure, intervalsText, type IntervalsView } from './report/intervals-text.ts';
export { type WhatIfView, whatIfText } from './report/what-if-text.ts';
export { loadLineSvg } from './report/load-line-picture.ts';
export { loadLineText, type LoadLineView } from './report/load-line-text.ts';
export { resultPage } from './report/page.ts';
export { recordText } from './report/record-text.ts';
export { resultMarkdown } from './report/markdown.ts';
export { objectiveLines, resultText } from './report/text.ts';
export { comparisonJunit } from './report/comparison-junit.ts';
export { comparisonMarkdown } from './report/comparison-markdown.ts';
export { comparisonText } from './report/comparison-text.ts';
export { theoryList, theoryPage } from './report/theory-page.ts';
export { preflightText } from './report/preflight-text.ts';
export { sarif } from './report/sarif.ts';
