// What the supervisor and its workers say to each other, over the channel that Node gives a child.

import { z } from 'zod';

export const toWorker = z.discriminatedUnion('kind', [
  /** First of all: the configuration as text, so that all have the same. */
  z.object({ kind: z.literal('begin'), text: z.string(), ticketKeys: z.base64() }),
  z.object({ kind: z.literal('reload'), id: z.number(), text: z.string() }),
  /** A request to the admin API. */
  z.object({
    kind: z.literal('ask'),
    id: z.number(),
    method: z.string(),
    path: z.string(),
    accept: z.string(),
    body: z.string().nullable(),
  }),
  z.object({ kind: z.literal('drain'), patienceNs: z.number().nullable() }),
]);

export const toSupervisor = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), ports: z.array(z.number()) }),
  z.object({ kind: z.literal('reloaded'), id: z.number(), problems: z.array(z.string()) }),
  z.object({
    kind: z.literal('answer'),
    id: z.number(),
    status: z.number(),
    contentType: z.string(),
    body: z.string(),
  }),
]);

export type ToWorker = z.infer<typeof toWorker>;
export type ToSupervisor = z.infer<typeof toSupervisor>;
