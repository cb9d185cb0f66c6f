/** GET / : GraphiQL, when the console is enabled. */
import type { FastifyInstance } from 'fastify';

export function consoleRoutes(_app: FastifyInstance): void {}
