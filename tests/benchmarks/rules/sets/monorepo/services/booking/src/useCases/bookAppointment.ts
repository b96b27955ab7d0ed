import type { BookingInput } from "@tidewater/contracts";
import { type Db, withTransaction } from "@tidewater/db";
import { insertAppointment } from "../appointments.repository";
import { outbox } from "../outbox";

export async function bookAppointment(db: Db, clinicId: string, input: BookingInput) {
  return withTransaction(db, async (tx) => {
    const { id } = await insertAppointment(tx, clinicId, input.slotId, input.visitReason);
    await outbox(tx, "appointment.booked", { appointmentId: id });
    return { id };
  });
}
