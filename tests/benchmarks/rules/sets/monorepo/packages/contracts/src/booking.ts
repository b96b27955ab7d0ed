import { z } from "zod";

export const bookingSchema = z.object({ slotId: z.string().uuid(), visitReason: z.string().min(1).max(200) });
export type BookingInput = z.infer<typeof bookingSchema>;
export const appointmentCancelled = z.object({ id: z.string(), appointmentId: z.string(), reason: z.string() });
