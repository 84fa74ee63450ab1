/* An RTSP server: "rtsp_server PIPELINE" prints its port on 127.0.0.1 and accepts senders at
 * /camera. It passes their packets to the pipeline's element depay0, and runs until killed. */
#include <gst/rtsp-server/rtsp-server.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    gst_init(&argc, &argv);
    if (argc != 2) {
        fprintf(stderr, "usage: rtsp_server PIPELINE\n");
        return 2;
    }
    GstRTSPServer *server = gst_rtsp_server_new();
    gst_rtsp_server_set_address(server, "127.0.0.1");
    gst_rtsp_server_set_service(server, "0");
    GstRTSPMediaFactory *factory = gst_rtsp_media_factory_new();
    gst_rtsp_media_factory_set_launch(factory, argv[1]);
    gst_rtsp_media_factory_set_transport_mode(factory, GST_RTSP_TRANSPORT_MODE_RECORD);
    GstRTSPMountPoints *points = gst_rtsp_server_get_mount_points(server);
    gst_rtsp_mount_points_add_factory(points, "/camera", factory);
    g_object_unref(points);
    if (!gst_rtsp_server_attach(server, NULL)) {
        fprintf(stderr, "cannot listen on 127.0.0.1\n");
        return 1;
    }
    printf("%d\n", gst_rtsp_server_get_bound_port(server));
    fflush(stdout);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
    return 0;
}
