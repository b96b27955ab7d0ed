import { z } from "zod";

export const env = z.object({ DATABASE_URL: z.string().url(), PORT: z.coerce.number().default(3001) }).parse(process.env);
