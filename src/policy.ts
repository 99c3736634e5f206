// policy: who gets the next request, who is fit for it, whether to try again, until when. Pure.

export * from './policy/balance/balancer.ts';
