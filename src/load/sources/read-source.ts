// Which kind of source a text is, by what is in it and not by its name.

import { readAccessLog } from './access-log.ts';
import { readCurl } from './curl.ts';
import { readHar } from './har.ts';
import { isOpenApi, readOpenApi } from './openapi.ts';
import type { Source } from './source.ts';
import { readVegeta } from './vegeta.ts';

/** Undefined when the text is none of the sources that are read here. `weights` are of an OpenAPI document's operations. */
export function readSource(text: string, weights?: ReadonlyMap<string, number>): Source | undefined {
  if (isOpenApi(text)) return readOpenApi(text, weights);
  if (/^\s*(\$\s*)?curl\s/m.test(text)) return readCurl(text);
  if (/^\s*\{/.test(text))
    return /"log"\s*:/.test(text) && /"entries"\s*:/.test(text) ? readHar(text) : readVegeta(text);
  if (/^\s*(#.*\s+)*[A-Z]+\s+https?:\/\//.test(text)) return readVegeta(text);
  if (/\[\d{1,2}\/[A-Z][a-z]{2}\/\d{4}:/.test(text)) return readAccessLog(text);
  return undefined;
}
