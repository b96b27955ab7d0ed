import { bookingSchema } from "@tidewater/contracts";
import type { FastifyInstance } from "fastify";
import { bookAppointment } from "../useCases/bookAppointment";

export function bookAppointmentRoute(app: FastifyInstance) {
  app.post("/appointments", async (request, reply) => {
    const input = bookingSchema.strict().parse(request.body);
    const booked = await bookAppointment(app.db, request.user.clinicId, input);
    return reply.code(201).send(booked);
  });
}
