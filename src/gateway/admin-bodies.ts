// What operators post for one endpoint, or for the gateway, in short bodies of their own.

import { z } from 'zod';
import type { OperatorOrder } from './live-endpoint.ts';

interface Wrong {
  readonly problems: readonly string[];
}

/** `{ "order": "drain" }`; null withdraws it. */
export function parseOperatorOrder(value: unknown): { readonly order: OperatorOrder | undefined } | Wrong {
  const parsed = orderShape.safeParse(value);
  if (parsed.success) return { order: parsed.data.order ?? undefined };
  return { problems: ['expected { "order": "drain" }, "up", "down" or null'] };
}

/** `{ "weight": 0.5 }`. */
export function parseWeight(value: unknown): { readonly weight: number } | Wrong {
  const parsed = weightShape.safeParse(value);
  return parsed.success ? parsed.data : { problems: ['expected { "weight": 1 }, a number from 0 to 1000000'] };
}

/** `{ "draining": true }`. */
export function parseDraining(value: unknown): { readonly draining: boolean } | Wrong {
  const parsed = drainingShape.safeParse(value);
  return parsed.success ? parsed.data : { problems: ['expected { "draining": true } or false'] };
}

const orderShape = z.strictObject({ order: z.enum(['drain', 'up', 'down']).nullable() });
const weightShape = z.strictObject({ weight: z.number().min(0).max(1e6) });
const drainingShape = z.strictObject({ draining: z.boolean() });
