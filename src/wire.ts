// wire: bytes to events and back, for the formats we own. Pure.

export * from './wire/http1/events.ts';
