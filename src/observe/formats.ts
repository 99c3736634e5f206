// Every format that is read, in one table. Where two are equally sure of a file, the one that stands first reads it.

import type { Format } from './parse/format.ts';
import { prometheusText } from './parse/prometheus-text.ts';

export const formats: readonly Format[] = [prometheusText];
