"""Spanish: verbs by sense, nouns by class, and the words that say who acted, when, and in which mood."""

from __future__ import annotations

from typing import Final

__all__ = ["MARKS", "NOUNS", "NUMBERS", "PHRASES", "TEXTUAL", "UNKNOWN", "VERBS"]

UNKNOWN: Final = r"[a-zñáéíóú]{3,}(?:ado|ido|ada|ida|ados|idos|adas|idas)"

VERBS: Final = """
join: matricular
send: enviar mandar reenviar remitir notificar avisar responder contestar invitar informar entregar comunicar despachar escribir_a expedir
submit: presentar solicitar tramitar pedir/pedido/pedí/pidió/pidieron inscribir/inscrito
post: publicar compartir anunciar comentar colgar/colgado/colgué/colgó/colgaron
create: crear añadir agregar generar registrar insertar abrir/abierto dar_de_alta importar adjuntar anotar apuntar incluir/incluido/incluí/incluyó/incluyeron vincular incorporar emitir suscribir/suscrito
book: reservar agendar programar concertar planificar
set: configurar activar ajustar encender apagar poner/puesto/puse/puso/pusieron establecer/establecido/establecí/estableció/establecieron fijar subir_volumen bajar_volumen cerrar silenciar habilitar deshabilitar conectar desconectar armar
lock: bloquear desbloquear
update: actualizar cambiar modificar editar renombrar corregir/corregido/corregí/corrigió/corrigieron reemplazar sustituir/sustituido/sustituí/sustituyó/sustituyeron marcar asignar restaurar restablecer/restablecido/restablecí/restableció/restablecieron reasignar comprimir descomprimir escalar rotar desvincular enlazar colocar
  renovar migrar convertir/convertido/convertí/convirtió/convirtieron arreglar reparar resolver/resuelto/resolví/resolvió/resolvieron cerrar completar rellenar sobrescribir/sobrescrito fusionar ampliar reducir/reducido/reduje/redujo/redujeron aumentar etiquetar ordenar limpiar
move: mover trasladar aplazar reprogramar archivar adelantar posponer/pospuesto/pospuse/pospuso/pospusieron desplazar
any: pasar aplicar repartir liberar
delete: eliminar borrar quitar vaciar suprimir desinstalar revocar retirar purgar descartar
cancel: cancelar anular detener/detenido/detuve/detuvo/detuvieron interrumpir terminar desactivar
refuse: rechazar denegar/denegado/denegué/denegó/denegaron
pay: pagar transferir/transferido/transferí/transfirió/transfirieron comprar reembolsar abonar cobrar encargar devolver/devuelto/devolví/devolvió/devolvieron donar ingresar facturar
write: escribir/escrito
save: guardar exportar subir descargar copiar imprimir/impreso almacenar sincronizar grabar respaldar cargar
deploy: instalar desplegar/desplegado/desplegué/desplegó/desplegaron lanzar implementar
start: iniciar reiniciar arrancar
run: ejecutar probar compilar correr
push: empujar
call: llamar contactar telefonear
approve: aprobar aceptar confirmar autorizar firmar validar conceder otorgar
do: hacer/hecho/hice/hizo/hicieron completar finalizar realizar procesar gestionar efectuar terminar llevar_a_cabo solucionar
read: revisar buscar consultar leer/leído/leí/leyó/leyeron comprobar verificar mirar examinar comparar abrir/abierto obtener/obtenido/obtuve/obtuvo/obtuvieron inspeccionar analizar repasar recuperar
"""

TEXTUAL: Final = """
pensar saber/sabido/supe/supo/supieron entender ver/visto/vi/vio/vieron notar encontrar oír/oído decir/dicho/dije/dijo/dijeron explicar mencionar describir/descrito sugerir/sugerido/sugerí recomendar
suponer/supuesto decidir considerar intentar tratar mantener/mantenido/mantuve dejar usar utilizar tomar recibir dar/dado/di/dio/dieron tener/tenido/tuve ir/ido/fui venir/venido ser/sido estar/estado ayudar mostrar
resumir traducir/traducido/traduje preparar redactar proponer/propuesto/propuse preguntar calcular estimar contar detectar identificar reconocer/reconocido gustar esperar fallar perder elegir/elegido/elegí
olvidar aprender referir/referido ignorar omitir observar hablar comentar acabar quedar seguir/seguido poder/podido/pude querer/querido/quise quise vivido basar listar agrupar destacar limitar
"""

MARKS: Final = {
    "V": "así muy más menos mucho poco otro otra otros otras aquí allí hoy mañana gracias hola sí vale bueno buena bien-hecho mismo misma cada entre contra durante sin-más unos algo alguien perfecto claro según-esto mí ti",
    "I": "he hemos yo nosotros",
    "Y": "has tú usted ustedes habéis",
    "T": "ella él ellos ellas alguien quien quién",
    "P": "todo esto eso ello todos todas ambos ambas",
    "H": "ha han había habían hube haber haya hayan",
    "B": "sido fue fueron",
    "S": "está están es son queda quedan quedó quedaron estaba estás quedas",
    "R": "siendo",
    "X": "se me te le les lo la los las nos os",
    "M": "puedo puede pueden podría podrías podemos puedes voy va vamos iré quiero quieres quisiera debería deberías debo debe hay tengo tienes tiene que será serán sería serían ser estar "
    "para por favor gustaría sea sean haya hayan habría habrían hubiera hubiese intenté intentado intentar podido pude poder necesito a deba",
    "N": "no ni nunca jamás sin ningún ninguna ninguno nada nadie tampoco",
    "A": "ya también recién ahora correctamente exitosamente acabo además después luego finalmente por-fin justo directamente inmediatamente igualmente primero asimismo bien automáticamente solo sólo",
    "C": "si vez cuando hasta aunque-si mientras siempre-que salvo",
    "c": "tras después-de antes al",
    "K": "porque pues pero que aunque ya-que",
    "W": "que quien cual cuales donde qué cuál cómo cuándo dónde quién",
    "E": "ayer anteayer anteriormente originalmente antiguamente hace",
    "D": "el la los las un una unos unas tu su tus sus mi este esta estos estas ese esa ambos ambas todos todas",
    "J": "y e o u pero ni &",
    "O": "a al de del en con para por desde hasta sobre según",
    "F": "falló fallado fallaron error fallo rechazó rechazada rechazado denegado denegada pendiente pendientes bloqueado imposible lamentablemente desgraciadamente espera intenté intentado falta rebotó rebotaron rebotado inválida inválido inválidos caducado caducada",
    "G": "llegué llegamos conseguí logré logrado conseguido pude podido",
    "L": "siempre normalmente generalmente automáticamente suele suelen cada habitualmente diariamente",
    "~": "el la los las de que y en un una no es por para con su se lo está he ya del al más pero",
}

PHRASES: Final = {
    "open": r"\bse está \w+ndo|\bestá siendo|en revisión|visto bueno|aprobación|autorización|confirmación|en curso|en trámite|todavía|aún|a la espera|pendiente|sigue",
    "unchanged": r"\b(?:sin cambios|igual que antes|intact[oa]s?|tal (?:y )?como estaban?|tal cual)\b|sin (?:cambiar|tocar|modificar) nada",
    "generic": r"^(?:¡?\s*)(?:listo|listos|hecho|todo listo|ya está|ya quedó|perfecto, listo)\b|\btodo (?:está |ha quedado |quedó )?(?:listo|hecho|en orden|resuelto|solucionado)|\bya (?:está|quedó|queda) (?:todo |hecho|listo|resuelt[oa]|solucionad[oa])|"
    r"\bme (?:he encargado|encargué|ocupé|he ocupado) de|\b(?:ha|ha) salido (?:todo )?bien|\bsin (?:ningún )?problemas?[.!]?$|ya está en (?:producción|marcha|línea)|misión cumplida|asunto resuelto",
    "send": r"\bestá en camino\b|\bya (?:lo|la|los|las) (?:tiene|tienen|recibió|recibieron)\b|\bha salido (?:el|la)\b|\bya está (?:avisad|notificad|informad)[oa]s?",
    "heard": r"(?:me alegr[oa]|qué (?:bien|bueno)|genial|felicidades|enhorabuena)\b(?: mucho)?(?: de)?(?: que| por)|entiendo|entendido que|lamento|(?:dices|cuentas|comentas|mencionas) que",
    "report": r"según|veo que|(?:dice|muestra|indica|consta|figura|aparece|señala)|de acuerdo con|por lo que veo",
    "imperative": r"\b(?:comprueba|compruebe|verifica|verifique|asegúrate|asegúrese|revisa|revise|mira|confirma|confirme)\b.{0,20}\b(?:que|si)\b",
    "ignore": r"bien hecho|de hecho|una vez hecho|está hecho de|cuando esté listo|hecho de|el hecho",
}

NUMBERS: Final = "cero un/uno/una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"

NOUNS: Final = """
prose: introducción conclusión ensayo artículo párrafo frase redacción tono estilo repetición repeticiones ortografía estrofa poema
mail: correo email e-mail mensaje carta respuesta invitación notificación aviso boletín correos
message: mensaje sms respuesta notificación aviso
event: evento reunión cita calendario llamada sesión invitación agenda
reminder: recordatorio tarea alarma temporizador
file: archivo fichero documento informe carpeta directorio copia adjunto imagen foto vídeo video presentación pdf
text: tabla lista resumen borrador esquema poema párrafo frase tono versión ejemplo función código plan explicación traducción texto propuesta
payment: pago transferencia factura importe dinero reembolso depósito recibo
booking: vuelo hotel mesa habitación asiento billete entrada reserva viaje sala pista
order: pedido compra artículo entrega suscripción
contact: contacto cliente clienta registro dirección ficha
issue: incidencia ticket error tarea caso tarjeta
repo: repositorio rama commit
record: registro fila campo datos columna valor
account: cuenta usuario contraseña permiso acceso rol clave
device: luz luces lámpara termostato calefacción puerta música volumen persiana temperatura
system: servidor servicio script trabajo prueba pruebas migración proceso comando sitio aplicación despliegue
"""
